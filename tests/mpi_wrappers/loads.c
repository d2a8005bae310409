// Loads the library that its argument names, as an interpreter loads an extension, and runs its main().
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  void* const library = dlopen(argv[argc - 1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void* const found = dlsym(library, "main");
  int (*run)(int, char**) = NULL;
  memcpy(&run, &found, sizeof run);
  return run(1, argv);
}

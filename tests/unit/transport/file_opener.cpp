// A library that opens files by a function that it imports.

#include <cstdio>

extern "C" __attribute__((visibility("default"))) std::FILE* open_by_library(const char* path) {
  return std::fopen(path, "r");
}

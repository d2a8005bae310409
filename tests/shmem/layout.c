/* One of two executables whose static variables have changed places (ORDER). All their segments have equal
 * sizes. */
#include <shmem.h>

struct layout {
#if ORDER
  long first, second;
#else
  long second, first;
#endif
};
static struct layout data;

int main(void) {
  shmem_init();
  shmem_long_p(&data.first, 1, 0);
  shmem_finalize();
  return 0;
}

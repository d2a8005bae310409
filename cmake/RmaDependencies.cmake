# Everything the project takes from the system, found once and by one name each.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(pmix REQUIRED IMPORTED_TARGET pmix)
pkg_check_modules(verbs REQUIRED IMPORTED_TARGET libibverbs)
# Optional: without it there is no RMA_NETWORK=ofi.
pkg_check_modules(ofi IMPORTED_TARGET libfabric>=1.15)
set(RMA_HAS_OFI ${ofi_FOUND})
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)

# `cpack -G DEB`, in the build folder, makes the Debian packages, one of each component (install.cmake):
#   librma0           the shared libraries
#   librma-dev        headers, static libraries, the files for CMake and pkg-config, and the compilers' wrappers
#   librma-openmpi    the libraries that stand in for Open MPI's
#   librma-mpich      the libraries that stand in for MPICH's
#   librma-armci-dev  the same of ARMCI: its headers have the names of other implementations' headers
#   librma-bin        rmarun, rma-info, the launchers' wrappers, and the manual pages
# They go to /usr. A build with CMAKE_INSTALL_PREFIX=/usr puts libraries where Debian has those of its architecture.
set(CPACK_PACKAGE_NAME librma)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The librma authors <librma@localhost>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_COMPONENTS_ALL runtime development armci openmpi mpich tools)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(rma_same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# Each package needs what its programs and libraries are linked with. librma.so is not yet installed when that is found
# out, so the packages' own order stands here.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)

# rma_debian_package(COMPONENT NAME SECTION DESCRIPTION): the first line of the description is its summary.
macro(rma_debian_package component name section description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

rma_debian_package(runtime librma0 libs
"one-sided communication in a global address space - shared libraries
librma gives the processes of a job one partitioned global address space:
puts, gets, accumulates and atomics on other processes' memory, by shared
memory within a host and by RDMA between hosts.
.
This package has librma and the libraries of the MPI, OpenSHMEM, ARMCI,
Fortran and coarray interfaces.")
rma_debian_package(development librma-dev libdevel
"one-sided communication in a global address space - development files
Headers, static libraries, and the files with which CMake and pkg-config find
librma, for C, C++ and Fortran; the header of its MPI and of its OpenSHMEM, and
their compilers (rma_mpicc, rma_oshcc), and that of coarrays (rma_caf). The
folders rma/mpi/bin, rma/shmem/bin and rma/caf/bin of the library's folder
have them by their usual names.")
rma_debian_package(armci librma-armci-dev libdevel
"one-sided communication in a global address space - ARMCI development files
Headers and libraries to build ARMCI programs over librma. They have the usual
names, such as armci.h, so another ARMCI cannot be installed beside them.")
rma_debian_package(openmpi librma-openmpi libs
"one-sided communication in a global address space - libraries for Open MPI's programs
Programs that are linked with Open MPI's libmpi.so.40 run on librma with these
libraries. rmarun chooses them; they lie in a folder of their own, beside Open
MPI if that is installed.")
rma_debian_package(mpich librma-mpich libs
"one-sided communication in a global address space - libraries for MPICH's programs
Programs that are linked with MPICH's or Intel MPI's libmpi.so.12, or with
Debian's libmpich.so.12, run on librma with these libraries. rmarun chooses
them; they lie in a folder of their own, beside MPICH if that is installed.")
rma_debian_package(tools librma-bin utils
"one-sided communication in a global address space - tools
The launcher rmarun, its forms for MPI, OpenSHMEM and coarray programs
(rma_mpiexec, rma_oshrun, rma_cafrun), and rma-info, which describes this machine and all settings.")

# The shared libraries and their users come from one build.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# libfabric carries jobs between hosts without RDMA devices. librma opens it when such a job starts.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "librma-bin, libfabric1")
# dpkg itself keeps the loader's cache up to date.
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "librma0 ${rma_same_version}")
# rmarun starts jobs of several hosts through the launcher of this package.
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "librma-openmpi, librma-mpich, openmpi-bin, openssh-client")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "librma0 ${rma_same_version}")
# Those of the static libraries, and what the wrappers call.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS
    "librma-bin, gcc | c-compiler, libpmix-dev, libibverbs-dev, libhwloc-dev, libfmt-dev, libspdlog-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "g++, gfortran, librma-armci-dev")
# These libraries need each other by the names of other MPIs' libraries, which would be taken for a need of these MPIs. What
# else they need, librma0 needs too.
foreach(rma_personality IN ITEMS OPENMPI MPICH)
  set(CPACK_DEBIAN_${rma_personality}_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_${rma_personality}_PACKAGE_DEPENDS "librma0 ${rma_same_version}")
endforeach()
set(CPACK_DEBIAN_ARMCI_PACKAGE_DEPENDS "librma-dev ${rma_same_version}")
set(CPACK_DEBIAN_ARMCI_PACKAGE_CONFLICTS "libarmci-mpi-dev, libglobalarrays-dev")

# Debian wants a list of changes with each package.
string(TIMESTAMP rma_today "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/debian/changelog.Debian
     "librma (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
     "  * Built from the sources of librma ${PROJECT_VERSION}.\n\n"
     " -- ${CPACK_PACKAGE_CONTACT}  ${rma_today}\n")
execute_process(COMMAND gzip -9nf ${PROJECT_BINARY_DIR}/debian/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)

include(CPack)

# What `cmake --install` puts where: the libraries, the public headers, and how other builds find them
# (find_package(rma), pkg-config rma). The programs under tools/ install themselves. A component is what one Debian
# package has (debian.cmake): `runtime`, `development`, `armci` (ARMCI's development files), `openmpi` and `mpich` (the
# libraries that stand in for theirs) and `tools`.
include(CMakePackageConfigHelpers)

# rma_install_libraries(COMPONENT TARGET...): shared libraries belong to the runtime. Their names without a version, and
# archives, belong to COMPONENT.
function(rma_install_libraries component)
  install(TARGETS ${ARGN}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT ${component}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
endfunction()

# The libraries that a program must link with librma.a. These are plain names, which work with any build tool.
set(rma_static_libs spdlog fmt pmix ibverbs hwloc stdc++ m pthread)
list(TRANSFORM rma_static_libs PREPEND "-l" OUTPUT_VARIABLE rma_static_flags)
list(JOIN rma_static_flags " " rma_static_flags)

# The same for rma::armci, with what the MPI beside it needs.
set(rma_armci_mpi_options ${RMA_MPI_CFLAGS_${RMA_ARMCI_FLAVOUR}})
set(rma_armci_mpi_libs ${RMA_MPI_LIBS_${RMA_ARMCI_FLAVOUR}})
set(RMA_MPI_CFLAGS_rma "-I\${includedir}/rma-mpi") # in a .pc file
if(RMA_ARMCI_FLAVOUR STREQUAL rma)
  set(rma_armci_mpi_libs rma::mpi)
endif()

set(rma_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rma)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rma-config.cmake.in ${PROJECT_BINARY_DIR}/rma-config.cmake
                              INSTALL_DESTINATION ${rma_cmake_dir}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rma-config-version.cmake COMPATIBILITY SameMinorVersion)
# From rma.pc to the prefix, so that an installed tree may be moved.
file(RELATIVE_PATH rma_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/rma.pc.in ${PROJECT_BINARY_DIR}/rma.pc @ONLY)

rma_install_libraries(development rma rma-static)
if(TARGET rma_process_heap)
  rma_install_libraries(development rma_process_heap)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/rma DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/rma-config.cmake ${PROJECT_BINARY_DIR}/rma-config-version.cmake
        DESTINATION ${rma_cmake_dir})
install(FILES ${PROJECT_BINARY_DIR}/rma.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ARMCI: the flavour that was asked for, under the names that clients look for.
set(rma_armci_beside "")
if(NOT RMA_ARMCI_FLAVOUR STREQUAL plain)
  set(rma_armci_beside ", beside ${RMA_ARMCI_MPI}")
endif()
list(JOIN RMA_MPI_CFLAGS_${RMA_ARMCI_FLAVOUR} " " rma_armci_cflags)
list(JOIN RMA_MPI_LIBS_${RMA_ARMCI_FLAVOUR} " " rma_armci_libs)
configure_file(${CMAKE_CURRENT_LIST_DIR}/armci.pc.in ${PROJECT_BINARY_DIR}/armci.pc @ONLY)
# Another flavour may be in the prefix. CMake takes files that were made in the same second for the same, and would
# leave parts of it there.
install(CODE "
  foreach(file IN ITEMS ${CMAKE_INSTALL_LIBDIR}/libarmci.so.${PROJECT_VERSION} ${CMAKE_INSTALL_LIBDIR}/libarmci.a
                        ${CMAKE_INSTALL_INCLUDEDIR}/armci.h)
    get_filename_component(file \${file} ABSOLUTE BASE_DIR \${CMAKE_INSTALL_PREFIX})
    file(REMOVE \$ENV{DESTDIR}\${file})
  endforeach()" COMPONENT armci)
foreach(flavour IN ITEMS plain ${RMA_MPIS})
  set(rma_armci_targets armci-${flavour})
  if(TARGET armci-${flavour}-static)
    list(APPEND rma_armci_targets armci-${flavour}-static)
  endif()
  if(flavour STREQUAL RMA_ARMCI_FLAVOUR)
    rma_install_libraries(armci ${rma_armci_targets})
  else()
    # Linked so that it may be installed, too: another flavour may be chosen for a build that is done.
    install(TARGETS ${rma_armci_targets}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT armci_unchosen EXCLUDE_FROM_ALL
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT armci_unchosen EXCLUDE_FROM_ALL)
  endif()
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/armci-${RMA_ARMCI_FLAVOUR}/include/armci.h ${PROJECT_SOURCE_DIR}/include/parmci.h
              ${PROJECT_SOURCE_DIR}/include/message.h ${PROJECT_SOURCE_DIR}/include/mp3.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT armci)
install(FILES ${PROJECT_BINARY_DIR}/armci.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT armci)

# MPI. Its header has a folder of its own, because another MPI's may be in the prefix.
configure_file(${CMAKE_CURRENT_LIST_DIR}/rma-mpi.pc.in ${PROJECT_BINARY_DIR}/rma-mpi.pc @ONLY)
rma_install_libraries(development mpi_abi)
install(FILES ${RMA_MPI_INCLUDE}/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rma-mpi)
install(FILES ${PROJECT_BINARY_DIR}/rma-mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The libraries that stand in for those of other MPIs, in folders of their own: programs find them by LD_LIBRARY_PATH only.
install(TARGETS ${RMA_OPENMPI_LIBRARIES}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rma/openmpi COMPONENT openmpi NAMELINK_SKIP)
install(TARGETS ${RMA_MPICH_LIBRARIES}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rma/mpich COMPONENT mpich NAMELINK_SKIP)

# OpenSHMEM. Its header has a folder of its own for the same reason.
configure_file(${CMAKE_CURRENT_LIST_DIR}/rma-shmem.pc.in ${PROJECT_BINARY_DIR}/rma-shmem.pc @ONLY)
rma_install_libraries(development rma_shmem)
install(DIRECTORY ${RMA_SHMEM_INCLUDE}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rma-shmem FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/rma-shmem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(RMA_HAS_FORTRAN)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/rma-mpi-fortran.pc.in ${PROJECT_BINARY_DIR}/rma-mpi-fortran.pc @ONLY)
  rma_install_libraries(development mpi_abi_fortran)
  install(FILES ${RMA_MPI_INCLUDE}/mpif.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rma-mpi)
  install(FILES ${RMA_MPI_MODULES}/rma_mpi_types.mod ${RMA_MPI_MODULES}/mpi.mod ${RMA_MPI_MODULES}/mpi_f08.mod
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/rma/mpi)
  install(FILES ${PROJECT_BINARY_DIR}/rma-mpi-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

  # Module files are one compiler's own, and so not among the headers.
  set(rma_modules_dir ${CMAKE_INSTALL_LIBDIR}/rma/fortran)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/rma-fortran.pc.in ${PROJECT_BINARY_DIR}/rma-fortran.pc @ONLY)
  rma_install_libraries(development rma_fortran rma_fortran-static)
  install(DIRECTORY ${RMA_FORTRAN_MODULES}/ DESTINATION ${rma_modules_dir} FILES_MATCHING PATTERN "*.mod")
  install(FILES ${PROJECT_BINARY_DIR}/rma-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

  configure_file(${CMAKE_CURRENT_LIST_DIR}/rma-caf.pc.in ${PROJECT_BINARY_DIR}/rma-caf.pc @ONLY)
  rma_install_libraries(development rma_caf rma_caf-static)
  # The library for gfortran 15 has the same name, so the link without a version is in a folder of its own.
  install(TARGETS rma_caf15 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_SKIP)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/installed_caf15)
  file(CREATE_LINK ../../libcaf_rma.so.4 ${PROJECT_BINARY_DIR}/installed_caf15/libcaf_rma.so SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/installed_caf15/libcaf_rma.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/rma/caf15
          COMPONENT development)
  install(FILES ${PROJECT_BINARY_DIR}/rma-caf.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

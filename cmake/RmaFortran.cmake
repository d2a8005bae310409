# Whether there is a Fortran interface. Sets RMA_HAS_FORTRAN, and RMA_FORTRAN_MODULES, the folder of the module files in
# the build.

set(RMA_FORTRAN AUTO CACHE STRING "Build the Fortran interface: ON, OFF, or AUTO where there is a gfortran")
set_property(CACHE RMA_FORTRAN PROPERTY STRINGS AUTO ON OFF)
set(RMA_FORTRAN_MODULES ${PROJECT_BINARY_DIR}/modules)

set(RMA_HAS_FORTRAN OFF)
# The fuzzer's build is clang's; there is nothing to fuzz in Fortran.
if(RMA_FORTRAN AND NOT LIBRMA_FUZZ)
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
  endif()
  if(CMAKE_Fortran_COMPILER_ID STREQUAL GNU AND CMAKE_Fortran_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    set(RMA_HAS_FORTRAN ON)
  elseif(NOT RMA_FORTRAN STREQUAL AUTO)
    message(FATAL_ERROR "RMA_FORTRAN=${RMA_FORTRAN} needs gfortran 12 or later; found: ${CMAKE_Fortran_COMPILER} "
                        "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
  endif()
endif()

# The MPIs that ARMCI can stand beside, each as an interface target rma_mpi_<name> and a launcher RMA_MPIRUN_<name>:
# this project's own, as `rma`; Debian's Open MPI and MPICH where they are installed; and the one that RMA_ARMCI_MPI
# names by its mpicc, as `own`. RMA_MPIS lists the names.

set(RMA_ARMCI_MPI "" CACHE STRING
    "What the installed libarmci stands beside: nothing (no MPI), rma (librma's own), openmpi, mpich, or the path of an mpicc")

# rma_find_mpi(NAME MPICC MPIRUN): what the compiler says that it passes on.
function(rma_find_mpi name mpicc mpirun)
  execute_process(COMMAND ${mpicc} -show OUTPUT_VARIABLE line RESULT_VARIABLE status ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "'${mpicc} -show' failed: is it the compiler of an MPI?")
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  list(POP_FRONT words)
  add_library(rma_mpi_${name} INTERFACE)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      target_include_directories(rma_mpi_${name} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-(L|l|Wl,)")
      list(APPEND link_words ${word})
    elseif(word MATCHES "^-(D|pthread)")
      target_compile_options(rma_mpi_${name} INTERFACE ${word})
    endif()
  endforeach()
  target_link_libraries(rma_mpi_${name} INTERFACE ${link_words})
  # The C++ names that these headers bring are not asked for.
  target_compile_definitions(rma_mpi_${name} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  # For other builds than this one: what the target says.
  list(FILTER words INCLUDE REGEX "^-(I|D|pthread)")
  set(RMA_MPI_CFLAGS_${name} ${words} PARENT_SCOPE)
  set(RMA_MPI_LIBS_${name} ${link_words} PARENT_SCOPE)
  set(RMA_MPIRUN_${name} ${mpirun} PARENT_SCOPE)
  set(RMA_MPIS ${RMA_MPIS} ${name} PARENT_SCOPE)
endfunction()

# The library itself is a target of src/twosided_compat.
add_library(rma_mpi_rma INTERFACE)
target_link_libraries(rma_mpi_rma INTERFACE mpi_abi)
set(RMA_MPIRUN_rma $<TARGET_FILE:rmarun>)
# Words for the compiler of a program, from the prefix.
set(RMA_MPI_LIBS_rma -lmpi_abi)
set(RMA_MPIS rma)
# A sanitizer would report what the MPIs do.
if(NOT RMA_SANITIZE AND NOT LIBRMA_FUZZ)
  foreach(name IN ITEMS openmpi mpich)
    find_program(RMA_MPICC_${name} mpicc.${name})
    find_program(RMA_MPIEXEC_${name} mpirun.${name})
    mark_as_advanced(RMA_MPICC_${name} RMA_MPIEXEC_${name})
    if(RMA_MPICC_${name} AND RMA_MPIEXEC_${name})
      rma_find_mpi(${name} ${RMA_MPICC_${name}} ${RMA_MPIEXEC_${name}})
    endif()
  endforeach()
endif()

set(RMA_ARMCI_FLAVOUR plain)
if(RMA_ARMCI_MPI AND RMA_ARMCI_MPI IN_LIST RMA_MPIS)
  set(RMA_ARMCI_FLAVOUR ${RMA_ARMCI_MPI})
elseif(RMA_ARMCI_MPI MATCHES "/")
  get_filename_component(rma_mpi_bin ${RMA_ARMCI_MPI} DIRECTORY)
  rma_find_mpi(own ${RMA_ARMCI_MPI} ${rma_mpi_bin}/mpirun)
  set(RMA_ARMCI_FLAVOUR own)
elseif(RMA_ARMCI_MPI)
  message(FATAL_ERROR "RMA_ARMCI_MPI is '${RMA_ARMCI_MPI}': expected rma, or openmpi or mpich with the package installed "
                      "(found: ${RMA_MPIS}), or the path of an mpicc")
endif()

# The MPI programs in C++ of this folder that run in a job of any size. tests/personality runs them too.
set(mpi_programs
    attributes buffered cancel collective_mix collectives communicator_creation communicator_numbers communicators
    datatype_collectives datatype_messages datatypes_random errors file_failures file_hints file_objects
    file_representations file_sharing file_threads files files_random graphs grids groups intercollectives intercommunicators
    large_counts neighbors nonblocking_collectives operator_alignment partitioned point_to_point random_traffic
    requests sessions threads tool windows_epochs windows_locks windows_memory windows_objects windows_random)
# What a program has besides PROGRAM.cpp and MPI, and needs in its environment.
set(mpi_sources_nonblocking_collectives collective_case.cpp)
set(mpi_sources_file_memory ../multi/failing_new.cpp)
set(mpi_libraries_windows_memory rma) # asks where the heap ends
set(mpi_libraries_mismatched_collectives rma)
set(mpi_libraries_windows_lost_test rma GTest::gtest_main)
set(mpi_libraries_files_lost_test rma GTest::gtest_main)
# Checks that memory which is not attached is refused. The process heap would let ranks reach it.
set(mpi_environment_windows_memory RMA_PROCESS_HEAP=0)

# mpi_invalid_arguments(NAME LIBRARY): a program in C, for a job of one, that calls each function with each argument made
# invalid in turn.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(mpi_tests ${CMAKE_CURRENT_LIST_DIR})
function(mpi_invalid_arguments name library)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/invalid_arguments.c)
  set(binding ${PROJECT_SOURCE_DIR}/src/twosided_compat/binding)
  add_custom_command(
    OUTPUT ${source}
    COMMAND Python3::Interpreter -B ${mpi_tests}/invalid_arguments.py ${binding} ${CMAKE_CURRENT_BINARY_DIR}
    DEPENDS ${mpi_tests}/invalid_arguments.py ${binding}/functions.txt ${binding}/generate.py
    VERBATIM)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${mpi_tests})
  target_compile_options(${name} PRIVATE -O0 -Wall -Werror -Wno-stringop-overread)
  target_link_libraries(${name} PRIVATE ${library})
endfunction()

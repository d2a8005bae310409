# Tests of a personality (src/twosided_compat/personality.cmake). Programs are compiled and linked as
# those for the other MPI are, and run on librma: LABEL.<program>.n<ranks>. A folder of tests sets `personality` and `label`,
# and includes this file; it needs the other MPI's compilers.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
string(TOUPPER ${personality} upper)
set(shared ${CMAKE_CURRENT_LIST_DIR})
get_target_property(other_headers rma_mpi_${personality} INTERFACE_INCLUDE_DIRECTORIES)
find_file(${personality}_header mpi.h PATHS ${other_headers} NO_DEFAULT_PATH REQUIRED)
mark_as_advanced(${personality}_header)
set(other_header ${${personality}_header})
list(GET RMA_${upper}_INCLUDE 0 own_headers)
list(GET RMA_${upper}_INCLUDE 1 own_tables)

# personality_check(NAME COMMAND word...)
function(personality_check name)
  add_test(NAME ${label}.${name} ${ARGN})
  set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} TIMEOUT 100)
endfunction()

# Every name that Debian 12's programs and libraries for this MPI import.
list(TRANSFORM RMA_${upper}_LIBRARIES REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE libraries)
personality_check(imports COMMAND Python3::Interpreter -B ${shared}/imports.py ${CMAKE_CURRENT_SOURCE_DIR}/imports.txt
                                  ${libraries})

include(../mpi/programs.cmake)
# The programs of tests/mpi. What they call of later versions of MPI is declared behind the MPI's own header, and so they are
# linked with the library that they run with.
set(later ${CMAKE_CURRENT_BINARY_DIR}/later)
add_custom_command(
  OUTPUT ${later}/mpi.h
  COMMAND Python3::Interpreter -B ${shared}/later.py ${other_header} ${own_headers}/mpi.h ${later}/mpi.h
  DEPENDS ${shared}/later.py ${other_header} rma_${personality}_header ${own_headers}/mpi.h
  VERBATIM)
add_custom_target(rma_later_header_${label} DEPENDS ${later}/mpi.h)
# compile_by_wrapper(TARGET LANGUAGE COMPILER): compiles and links the target, in C or CXX, by this compiler of the MPI, which
# calls the project's own. The folder of tests sets `wrapper_variables`, the first word of the variables that say so.
function(compile_by_wrapper target language compiler)
  find_program(RMA_${upper}_${compiler} ${compiler}.${personality})
  mark_as_advanced(RMA_${upper}_${compiler})
  if(NOT wrapper_variables OR NOT RMA_${upper}_${compiler})
    target_include_directories(${target} SYSTEM PRIVATE ${other_headers})
    return()
  endif()
  string(REPLACE mpi "" variable ${compiler})
  string(TOUPPER ${wrapper_variables}_${variable} variable)
  # CMake puts the compiler behind its launcher: as $0 of the shell.
  string(JOIN " " called ${CMAKE_${language}_COMPILER_LAUNCHER} "$0")
  set(wrapped "${RMA_${upper}_${compiler}} \"$@\"")
  set_target_properties(${target} PROPERTIES
    ${language}_COMPILER_LAUNCHER "sh;-c;${variable}=\"${called}\" ${wrapped}"
    ${language}_LINKER_LAUNCHER "sh;-c;${variable}=\"$0\" ${wrapped}")
  target_link_directories(${target} PRIVATE ${RMA_${upper}_FOLDER})
endfunction()
# compile_for_other(TARGET LANGUAGE COMPILER): compiles the target with the header of the other MPI, and links it with librma
function(compile_for_other target language compiler)
  add_dependencies(${target} rma_later_header_${label})
  target_include_directories(${target} BEFORE PRIVATE ${later})
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  compile_by_wrapper(${target} ${language} ${compiler})
endfunction()
# later_program(PROGRAM): one of tests/mpi, as the target LABEL-PROGRAM
function(later_program program)
  string(REPLACE _ - name ${label}-${program})
  list(TRANSFORM mpi_sources_${program} PREPEND ../mpi/ OUTPUT_VARIABLE more)
  rma_program(${name} SOURCES ../mpi/${program}.cpp ${more} LIBS rma_${personality} ${mpi_libraries_${program}})
  compile_for_other(${name} CXX mpicxx)
  # Like any program of the other MPI, it does not know where librma lies: rmarun does.
  if(NOT mpi_libraries_${program})
    set_target_properties(${name} PROPERTIES SKIP_BUILD_RPATH ON)
  endif()
endfunction()
# later_test(PROGRAM RANKS [OPTION...])
function(later_test program ranks)
  string(REPLACE _ - name ${label}-${program})
  set(test ${label}.${program}.n${ranks})
  add_test(NAME ${test} COMMAND $<TARGET_FILE:rmarun> -n ${ranks} --timeout 240 ${ARGN} $<TARGET_FILE:${name}>)
  set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 300 PROCESSORS 2)
  set_property(TEST ${test} PROPERTY ENVIRONMENT ${mpi_environment_${program}})
endfunction()

# other_program(NAME COMPILER SOURCE [OPTION...] [WITH object...]): a program as the MPI's own compilers make it, as the target
# LABEL-NAME. The variable LABEL-NAME is its path, or not set if there is no such compiler.
function(other_program name compiler source)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" WITH)
  find_program(RMA_${upper}_${compiler} ${compiler}.${personality})
  mark_as_advanced(RMA_${upper}_${compiler})
  if(NOT RMA_${upper}_${compiler})
    return()
  endif()
  set(program ${PROJECT_BINARY_DIR}/bin/${label}-${name})
  file(GLOB included CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/mpi_fortran/*.inc)
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${RMA_${upper}_${compiler}} -w ${arg_UNPARSED_ARGUMENTS} -o ${program} ${source} ${arg_WITH}
    DEPENDS ${source} ${included} ${RMA_${upper}_LIBRARIES} ${arg_WITH}
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${label}-${name} ALL DEPENDS ${program})
  set(${label}-${name} ${program} PARENT_SCOPE)
endfunction()
# other_test(NAME RANKS): a program of other_program(), if it is there
function(other_test name ranks)
  if(NOT ${label}-${name})
    return()
  endif()
  add_test(NAME ${label}.${name}.n${ranks} COMMAND $<TARGET_FILE:rmarun> -n ${ranks} --timeout 120 ${${label}-${name}})
  set_tests_properties(${label}.${name}.n${ranks} PROPERTIES LABELS ${label} TIMEOUT 180 PROCESSORS 2)
endfunction()

# Messages of static data are copied once, from the sender's memory as it is mapped.
function(static_data_test name)
  if(${label}-${name})
    personality_check(${name}.n2 COMMAND $<TARGET_FILE:rmarun> -n 2 --timeout 60 --env RMA_STATS=json ${${label}-${name}})
    set_tests_properties(${label}.${name}.n2 PROPERTIES PROCESSORS 2 PASS_REGULAR_EXPRESSION "static data: right"
                         FAIL_REGULAR_EXPRESSION "\"receive_mapped\":[0-1],;\"receive_(cma|shared)\":[1-9]")
  endif()
endfunction()
other_program(static-data mpicc ${PROJECT_SOURCE_DIR}/tests/process_heap/static_data.c)
static_data_test(static-data)
other_program(static-data-fixed-place mpicc ${PROJECT_SOURCE_DIR}/tests/process_heap/static_data.c -fno-pie -no-pie)
static_data_test(static-data-fixed-place)
if(RMA_HAS_FORTRAN)
  other_program(static-data-fortran mpifort ${PROJECT_SOURCE_DIR}/tests/process_heap/static_data.f90
                -J${CMAKE_CURRENT_BINARY_DIR})
  static_data_test(static-data-fortran)
endif()

# How a program gets its MPI.
other_program(program mpicc ${shared}/program.c)
foreach(case IN ITEMS asked by_itself own through_a_shell not_told another_process by_variable no_such_value)
  personality_check(chosen-${case} COMMAND Python3::Interpreter -B ${shared}/chosen.py ${personality} ${case}
                                           $<TARGET_FILE:rmarun> ${${label}-program})
endforeach()

rma_program(${label}-two-libraries SOURCES ${shared}/two_libraries.cpp LIBS rma::mpi ${CMAKE_DL_LIBS})
personality_check(two-libraries COMMAND $<TARGET_FILE:rmarun> -n 1 --timeout 60 $<TARGET_FILE:${label}-two-libraries>
                                        $<TARGET_FILE:rma_${personality}>)
set_tests_properties(${label}.two-libraries PROPERTIES PASS_REGULAR_EXPRESSION
  "librma's libmpi_abi.so.1 serves this process already, and librma's libmpi.so.${RMA_${upper}_VERSION} cannot do so too")

# For Open MPI all programs, and for MPICH those in which constants, handles, statuses, callbacks and names play the largest
# part.
if(personality STREQUAL mpich)
  set(mpi_programs attributes communicators datatypes_random errors graphs grids groups intercommunicators
                   operator_alignment partitioned point_to_point requests sessions tool windows_objects windows_random)
endif()
foreach(program IN LISTS mpi_programs)
  later_program(${program})
  later_test(${program} 3)
endforeach()
foreach(program IN ITEMS ports spawn)
  later_program(${program})
  later_test(${program} 2 --universe 64)
endforeach()

# other_fortran_tests(OPTION...): the tests of tests/mpi_fortran, in both forms of the language, with the compiler's options.
function(other_fortran_tests)
  foreach(source IN ITEMS fixed.F module.F90)
    cmake_path(GET source STEM form)
    other_program(fortran-${form} mpifort ${PROJECT_SOURCE_DIR}/tests/mpi_fortran/${source} ${ARGN})
    other_test(fortran-${form} 2)
  endforeach()
endfunction()

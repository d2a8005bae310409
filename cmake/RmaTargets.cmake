# The few shapes that this project's targets have.

# The flags for every C++ file of the project.
add_library(rma_flags INTERFACE)
target_compile_features(rma_flags INTERFACE cxx_std_20)
target_compile_options(rma_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion)
# Warnings of g++ are errors. Those of clang, which builds for the fuzzer, are not, because it warns of macros
# in system headers.
target_compile_options(rma_flags INTERFACE $<$<NOT:$<BOOL:${LIBRMA_FUZZ}>>:-Werror>)
# Optimizing, g++ 12 takes some concatenations of strings for overlapping copies (GCC bug 105651). The second word is
# for clang-tidy, which does not know the first.
target_compile_options(rma_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:-Wno-restrict -Wno-unknown-warning-option>)
target_include_directories(rma_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)

# RMA_LAYERS: the folders of src, lowest first. RMA_KNOWS_<folder>: the folders that it may know.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/layers.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/src/layers.txt rma_layers REGEX "^[a-z_]+:")
set(RMA_LAYERS "")
foreach(layer IN LISTS rma_layers)
  string(REGEX MATCH "^([a-z_]+): *(.*)$" layer "${layer}")
  list(APPEND RMA_LAYERS ${CMAKE_MATCH_1})
  string(REPLACE " " ";" RMA_KNOWS_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# rma_folder(NAME SOURCES file... [LIBS library...]): one folder under src, as a static library `rma_<name>` of its own
# that is linked with the folders it may know. So a folder's unit tests link that folder and what is below it, and
# nothing above.
function(rma_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_library(rma_${name} STATIC ${arg_SOURCES})
  set_target_properties(rma_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                               VISIBILITY_INLINES_HIDDEN ON)
  list(TRANSFORM RMA_KNOWS_${name} PREPEND rma_ OUTPUT_VARIABLE known)
  target_link_libraries(rma_${name} PUBLIC rma_flags ${known} ${arg_LIBS})
  set_property(GLOBAL APPEND PROPERTY RMA_FOLDERS rma_${name})
  set_property(GLOBAL APPEND PROPERTY RMA_FOLDER_LIBS ${arg_LIBS})
endfunction()

# rma_program(NAME SOURCES file... [LIBS library...]): a program in build/bin that uses the installed interface.
function(rma_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE rma_flags ${arg_LIBS})
endfunction()

# rma_unit_test(NAME [SHARDS n] SOURCES file... LIBS library...): a GoogleTest program of one process, and one ctest,
# unit.NAME, that runs all of it, with the label `unit`. With SHARDS, ctests unit.NAME-1 to unit.NAME-n run a share each:
# for a program that takes minutes with a sanitizer.
function(rma_unit_test name)
  cmake_parse_arguments(arg "" "SHARDS" "SOURCES;LIBS" ${ARGN})
  add_executable(test-${name} ${arg_SOURCES})
  target_link_libraries(test-${name} PRIVATE rma_flags ${arg_LIBS} GTest::gmock GTest::gtest_main)
  set(limit 300)
  if(RMA_SANITIZE)
    set(limit 600)
  endif()
  if(NOT arg_SHARDS)
    add_test(NAME unit.${name} COMMAND test-${name})
    set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT ${limit})
    return()
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    add_test(NAME unit.${name}-${shard} COMMAND test-${name})
    set_tests_properties(unit.${name}-${shard} PROPERTIES
      LABELS unit TIMEOUT ${limit} ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# Functions that build a personality of librma's MPI. Each is the sources of libmpi_abi.so.1, compiled once more with the constants
# and handles of another MPI (binding/NAME.txt), and lies in the folder lib/rma/NAME.

file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/src/twosided_compat/nothing.cpp
     CONTENT "// This library has nothing but its name.\n")

# rma_mpi_personality(NAME VERSION MADE file... SOURCES file...): the header and tables of binding/generate_personality.py,
# as the target rma_NAME_header, and the objects of the library itself, as rma_NAME_objects. MADE are the files that only
# this personality has. Afterwards RMA_NAME_INCLUDE has the folders of headers, and RMA_NAME_FOLDER the libraries'. VERSION
# is the number in the libraries' names.
function(rma_mpi_personality name version)
  cmake_parse_arguments(arg "" "" "MADE;SOURCES" ${ARGN})
  string(TOUPPER ${name} upper)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
  set(headers ${CMAKE_CURRENT_BINARY_DIR}/include)
  set(binding ${PROJECT_SOURCE_DIR}/src/twosided_compat/binding)
  set(RMA_${upper}_INCLUDE ${headers} ${generated} CACHE INTERNAL "The folders of ${name}'s values, with mpi.h")
  set(RMA_${upper}_FOLDER ${PROJECT_BINARY_DIR}/lib/rma/${name} CACHE INTERNAL "The folder of ${name}'s libraries")
  set(RMA_${upper}_VERSION ${version} CACHE INTERNAL "The number in the names of ${name}'s libraries")
  set(RMA_${upper}_LIBRARIES "" CACHE INTERNAL "The targets of the folder")
  set(made ${headers}/mpi.h)
  foreach(file IN ITEMS numbers.hpp error_classes.inc predefined_types.inc conversions.inc ${arg_MADE})
    list(APPEND made ${generated}/twosided_compat/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${made}
    COMMAND Python3::Interpreter -B ${binding}/generate_personality.py ${name} ${binding} ${generated} ${headers}
    DEPENDS ${binding}/generate_personality.py ${binding}/generate.py ${binding}/functions.txt ${binding}/constants.txt
            ${binding}/${name}.txt ${binding}/mpi.h.in
    COMMENT "The constants and handles of ${name}"
    VERBATIM)
  add_custom_target(rma_${name}_header DEPENDS ${made})

  list(TRANSFORM rma_mpi_sources PREPEND ../ OUTPUT_VARIABLE sources)
  add_library(rma_${name}_objects OBJECT ${sources} ${rma_mpi_generated_sources} ../binding/removed.cpp
                                         ../fortran/sentinels.cpp ../fortran/c_conversions.cpp ${arg_SOURCES})
  add_dependencies(rma_${name}_objects rma_${name}_header rma_mpi_header)
  set_target_properties(rma_${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(rma_${name}_objects PUBLIC RMA_MPI_${upper})
  # Its own mpi.h and tables come before those of the standard's interface, which lie in ${rma_mpi_generated}.
  target_include_directories(rma_${name}_objects PUBLIC ${headers} ${generated} ${rma_mpi_generated})
  target_compile_options(rma_${name}_objects PRIVATE -fno-plt) # as for the standard's interface
  target_link_libraries(rma_${name}_objects PUBLIC rma_flags fmt::fmt)
endfunction()

# rma_mpi_personality_library(NAME TARGET LIBRARY [SOURCES file...]): a library of the folder, by the name and number that
# programs need. Without sources it has nothing but its name: what programs need of it is in another one of the folder.
function(rma_mpi_personality_library name target library)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  string(TOUPPER ${name} upper)
  set(map ${PROJECT_SOURCE_DIR}/src/twosided_compat/${name}/${name}.map)
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${PROJECT_BINARY_DIR}/src/twosided_compat/nothing.cpp)
  endif()
  add_library(${target} SHARED ${arg_SOURCES})
  set(RMA_${upper}_LIBRARIES ${RMA_${upper}_LIBRARIES} ${target} CACHE INTERNAL "The targets of the folder")
  set(version ${RMA_${upper}_VERSION})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${library} VERSION ${version} SOVERSION ${version}
                                             LIBRARY_OUTPUT_DIRECTORY ${RMA_${upper}_FOLDER} INSTALL_RPATH $ORIGIN/../..
                                             LINK_DEPENDS ${map})
  target_link_options(${target} PRIVATE LINKER:-z,nodelete LINKER:--version-script=${map} LINKER:--no-as-needed)
  if(NOT RMA_SANITIZE) # the program brings a sanitizer's own functions
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
endfunction()

# rma_mpi_personality_fortran(NAME LIBRARY SOURCES file...): Fortran's entry points once more, with this personality's
# handles, as the target rma_NAME_LIBRARY.
function(rma_mpi_personality_fortran name library)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  string(TOUPPER ${name} upper)
  add_library(rma_${name}_fortran_calls OBJECT removed.cpp ${arg_SOURCES})
  set_target_properties(rma_${name}_fortran_calls PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(rma_${name}_fortran_calls SYSTEM PRIVATE ${RMA_FORTRAN_DESCRIPTORS})
  target_compile_definitions(rma_${name}_fortran_calls PRIVATE RMA_MPI_${upper})
  target_include_directories(rma_${name}_fortran_calls PRIVATE ${RMA_${upper}_INCLUDE})
  target_link_libraries(rma_${name}_fortran_calls PRIVATE rma_flags)
  add_dependencies(rma_${name}_fortran_calls rma_${name}_header rma_mpi_fortran_calls)
  rma_mpi_personality_library(${name} rma_${name}_${library} ${library} SOURCES $<TARGET_OBJECTS:rma_${name}_fortran_calls>)
  target_link_libraries(rma_${name}_${library} PRIVATE rma_${name})
endfunction()

# The two libraries that are installed, each made of all folders' objects.
#   rma::rma         librma.so: exports the C interface and nothing else (librma.map)
#   rma::rma-static  librma.a: the same objects and the private jemalloc's

get_property(rma_folders GLOBAL PROPERTY RMA_FOLDERS)
get_property(rma_folder_libs GLOBAL PROPERTY RMA_FOLDER_LIBS)
list(REMOVE_DUPLICATES rma_folder_libs)
list(TRANSFORM rma_folders REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE rma_objects)

# Only what implements the public headers may be seen from outside; the folders' default is hidden.
set_target_properties(rma_api PROPERTIES CXX_VISIBILITY_PRESET default)

add_library(rma SHARED ${rma_objects})
set_target_properties(rma PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                     LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/librma.map)
target_link_options(rma PRIVATE LINKER:-z,nodelete LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/librma.map)
if(NOT RMA_SANITIZE) # a sanitizer's own functions are the program's to bring
  target_link_options(rma PRIVATE LINKER:--no-undefined)
endif()
target_link_libraries(rma PRIVATE ${rma_folder_libs})

# With the private jemalloc, so that librma.a is as complete as librma.so.
add_library(rma-static STATIC ${rma_objects} ${RMA_JEMALLOC_OBJECT})
add_dependencies(rma-static rma_jemalloc)
set_target_properties(rma-static PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME rma)
target_link_libraries(rma-static PRIVATE ${rma_folder_libs})

foreach(target rma rma-static)
  target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/include)
  add_library(rma::${target} ALIAS ${target})
endforeach()

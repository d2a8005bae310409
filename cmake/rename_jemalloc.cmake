# A private copy of jemalloc: every name that Debian's archive defines gets the prefix librma_je_, so that neither the
# program's malloc nor a jemalloc of its own is touched, whichever way the library is linked. The objects that replace
# C++'s operator new are left out, and MALLOC_CONF is not read (see src/malloc/arena.cpp).
#
# Defines the library target rma_jemalloc, and RMA_JEMALLOC_ARCHIVE, the path of the renamed archive.

find_library(RMA_JEMALLOC_PIC_ARCHIVE libjemalloc_pic.a REQUIRED)
set(RMA_JEMALLOC_ARCHIVE ${PROJECT_BINARY_DIR}/jemalloc/librma_jemalloc.a CACHE INTERNAL
    "jemalloc under private names, to be merged into the library")

set(jemalloc_stamp ${PROJECT_BINARY_DIR}/jemalloc/made_from.txt)
file(SHA256 ${RMA_JEMALLOC_PIC_ARCHIVE} jemalloc_hash)
file(SHA256 ${CMAKE_CURRENT_LIST_FILE} jemalloc_recipe_hash)
set(jemalloc_made_from "")
if(EXISTS ${jemalloc_stamp} AND EXISTS ${RMA_JEMALLOC_ARCHIVE})
  file(READ ${jemalloc_stamp} jemalloc_made_from)
endif()
if(NOT jemalloc_made_from STREQUAL "${jemalloc_hash} ${jemalloc_recipe_hash}")
  execute_process(COMMAND ${CMAKE_NM} -g --defined-only --format=just-symbols ${RMA_JEMALLOC_PIC_ARCHIVE}
                  OUTPUT_VARIABLE jemalloc_symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n$" "" jemalloc_symbols "${jemalloc_symbols}")
  string(REPLACE "\n" ";" jemalloc_symbols "${jemalloc_symbols}")
  set(jemalloc_names secure_getenv)
  foreach(line IN LISTS jemalloc_symbols)
    # Names of C++, empty lines and the headings of members ("arena.pic.o:") are left out.
    if(line MATCHES "^[A-Za-z_][A-Za-z0-9_]*$" AND NOT line MATCHES "^_Z")
      list(APPEND jemalloc_names ${line})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES jemalloc_names)
  list(TRANSFORM jemalloc_names REPLACE "(.+)" "\\1 librma_je_\\1\n" OUTPUT_VARIABLE jemalloc_renames)
  list(JOIN jemalloc_renames "" jemalloc_renames)
  file(WRITE ${PROJECT_BINARY_DIR}/jemalloc/renames.txt "${jemalloc_renames}")
  file(COPY_FILE ${RMA_JEMALLOC_PIC_ARCHIVE} ${RMA_JEMALLOC_ARCHIVE})
  execute_process(COMMAND ${CMAKE_AR} d ${RMA_JEMALLOC_ARCHIVE} jemalloc_cpp.pic.o COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${PROJECT_BINARY_DIR}/jemalloc/renames.txt
                          ${RMA_JEMALLOC_ARCHIVE} COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${jemalloc_stamp} "${jemalloc_hash} ${jemalloc_recipe_hash}")
endif()

find_package(Threads REQUIRED)
add_library(rma_jemalloc STATIC IMPORTED GLOBAL)
set_target_properties(rma_jemalloc PROPERTIES IMPORTED_LOCATION ${RMA_JEMALLOC_ARCHIVE})
target_link_libraries(rma_jemalloc INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
# A shared library that links the archive does not export its names either.
target_link_options(rma_jemalloc INTERFACE -Wl,--exclude-libs,librma_jemalloc.a)

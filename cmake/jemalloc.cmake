# A private jemalloc, built here from source: the shared library is to be loadable by dlopen at any time (a Python
# extension, a plug-in), and Debian's own archive of jemalloc keeps its per-thread state where only libraries that are
# there from the program's start find room (the initial-exec model of thread-local storage, 2.7 KB).
#
# All of its objects become one, in which only the public functions are visible, under the prefix librma_je_. So neither
# the program's malloc nor a jemalloc of its own is touched, whichever way the library is linked. Two system functions
# that jemalloc calls are the library's (see src/malloc/arena.cpp).
#
# Defines the library target rma_jemalloc, and RMA_JEMALLOC_OBJECT, the path of that one object.

file(GLOB jemalloc_sources_found /usr/share/cargo/registry/jemalloc-sys-*)
set(RMA_JEMALLOC_SOURCE "${jemalloc_sources_found}" CACHE PATH
    "A folder with jemalloc/, the source, and configure/configure: as in Debian's librust-jemalloc-sys-dev")
if(NOT EXISTS "${RMA_JEMALLOC_SOURCE}/jemalloc/src/jemalloc.c" OR
   NOT EXISTS "${RMA_JEMALLOC_SOURCE}/configure/configure")
  message(FATAL_ERROR "There is no source of jemalloc in RMA_JEMALLOC_SOURCE='${RMA_JEMALLOC_SOURCE}'. Install "
                      "Debian's librust-jemalloc-sys-dev (scripts/setup.sh does), or set it to a folder that holds "
                      "jemalloc/ (a released source) and configure/configure.")
endif()

# Configured once for each compiler and source.
set(jemalloc_dir ${PROJECT_BINARY_DIR}/jemalloc)
file(SHA256 ${RMA_JEMALLOC_SOURCE}/configure/configure jemalloc_configure_hash)
file(SHA256 ${CMAKE_CURRENT_LIST_FILE} jemalloc_recipe_hash)
set(jemalloc_configured_by "${RMA_JEMALLOC_SOURCE} ${jemalloc_configure_hash} ${jemalloc_recipe_hash} ${CMAKE_C_COMPILER}")
set(jemalloc_stamp ${jemalloc_dir}/configured_by.txt)
set(jemalloc_stamped "")
if(EXISTS ${jemalloc_stamp})
  file(READ ${jemalloc_stamp} jemalloc_stamped)
endif()
if(NOT jemalloc_stamped STREQUAL jemalloc_configured_by)
  message(STATUS "Configuring jemalloc")
  file(REMOVE_RECURSE ${jemalloc_dir})
  file(COPY ${RMA_JEMALLOC_SOURCE}/jemalloc/ DESTINATION ${jemalloc_dir})
  file(COPY ${RMA_JEMALLOC_SOURCE}/configure/ DESTINATION ${jemalloc_dir})
  # jemalloc 5.1 keeps an extent's lock where it finds no memory to note the extent (extent_register_impl), and a later
  # allocation waits for that lock for ever. Later ones unlock.
  set(jemalloc_fault "\t    &elm_a, &elm_b)) {\n\t\treturn true;\n\t}\n\n\tszind_t szind = extent_szind_get_maybe")
  string(REPLACE "return true;" "extent_unlock(tsdn, extent);\n\t\treturn true;" jemalloc_mended "${jemalloc_fault}")
  file(READ ${jemalloc_dir}/src/extent.c jemalloc_before)
  string(REPLACE "${jemalloc_fault}" "${jemalloc_mended}" jemalloc_after "${jemalloc_before}")
  file(READ ${jemalloc_dir}/VERSION jemalloc_version)
  if(jemalloc_version MATCHES "^5\\.[01]\\." AND jemalloc_after STREQUAL jemalloc_before)
    message(FATAL_ERROR "src/extent.c of jemalloc ${jemalloc_version} is not as this recipe knows it")
  endif()
  file(WRITE ${jemalloc_dir}/src/extent.c "${jemalloc_after}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=CFLAGS --unset=CPPFLAGS --unset=LDFLAGS CC=${CMAKE_C_COMPILER}
            sh ./configure --disable-cxx --disable-initial-exec-tls --disable-stats --disable-fill
            --with-jemalloc-prefix=librma_je_ --with-lg-vaddr=48 --with-lg-page=12 --with-lg-hugepage=21
    WORKING_DIRECTORY ${jemalloc_dir} RESULT_VARIABLE jemalloc_status
    OUTPUT_FILE ${jemalloc_dir}/configure.out ERROR_FILE ${jemalloc_dir}/configure.out)
  if(NOT jemalloc_status EQUAL 0)
    file(READ ${jemalloc_dir}/configure.out jemalloc_said)
    message(FATAL_ERROR "jemalloc's configure failed:\n${jemalloc_said}")
  endif()
  file(WRITE ${jemalloc_stamp} "${jemalloc_configured_by}")
endif()

# Every source but those of other systems and of C++'s operator new.
file(GLOB jemalloc_sources ${jemalloc_dir}/src/*.c)
list(FILTER jemalloc_sources EXCLUDE REGEX "/zone\\.c$")
add_library(rma_jemalloc_objects OBJECT ${jemalloc_sources})
# Its own options in every build: a sanitizer is to see what the library does, not its allocator.
set_target_properties(rma_jemalloc_objects PROPERTIES
  COMPILE_OPTIONS "-O3;-funroll-loops;-fvisibility=hidden;-w" C_EXTENSIONS ON POSITION_INDEPENDENT_CODE ON
  UNITY_BUILD OFF)
# Private names stay as they are: they do not leave the one object.
target_compile_definitions(rma_jemalloc_objects PRIVATE _GNU_SOURCE _REENTRANT JEMALLOC_NO_PRIVATE_NAMESPACE)
target_include_directories(rma_jemalloc_objects PRIVATE ${jemalloc_dir}/include)

set(RMA_JEMALLOC_OBJECT ${jemalloc_dir}/rma_jemalloc.o CACHE INTERNAL "jemalloc as one object with private names")
add_custom_command(
  OUTPUT ${RMA_JEMALLOC_OBJECT} DEPENDS rma_jemalloc_objects $<TARGET_OBJECTS:rma_jemalloc_objects>
  COMMAND ${CMAKE_LINKER} -r $<TARGET_OBJECTS:rma_jemalloc_objects> -o ${RMA_JEMALLOC_OBJECT}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden --redefine-sym secure_getenv=librma_je_secure_getenv
          --redefine-sym mmap=librma_je_mmap ${RMA_JEMALLOC_OBJECT}
  COMMAND_EXPAND_LISTS VERBATIM)

find_package(Threads REQUIRED)
add_library(rma_jemalloc STATIC ${RMA_JEMALLOC_OBJECT})
set_target_properties(rma_jemalloc PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(rma_jemalloc INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
# A shared library that links the archive does not export its names either.
target_link_options(rma_jemalloc INTERFACE -Wl,--exclude-libs,librma_jemalloc.a)

# A private jemalloc, built here from source: the shared library is to be loadable by dlopen at any time (a Python
# extension, a plug-in), and Debian's own archive of jemalloc keeps its per-thread state where only libraries that are
# there from the program's start find room (the initial-exec model of thread-local storage, 2.7 KB).
#
# All of its objects become one, in which only the public functions are visible, under the prefix librma_je_. So neither
# the program's malloc nor a jemalloc of its own is touched, whichever way the library is linked. Two system functions
# that jemalloc calls are the library's (see src/malloc/arena.cpp).
#
# Defines the library target rma_jemalloc, and RMA_JEMALLOC_OBJECT, the path of that one object; and
# RMA_JEMALLOC_STARTUP_OBJECT, with the target rma_jemalloc_startup, which is for src/process_heap.

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
# Each patch says in its first lines which fault of jemalloc it mends. The versions that have the fault:
set(jemalloc_patches jemalloc-extent-lock jemalloc-fork)
set(jemalloc_versions_of_jemalloc-extent-lock "^5\\.[01]\\.")
set(jemalloc_versions_of_jemalloc-fork "^5\\.[12]\\.")
set(jemalloc_patch_hashes "")
foreach(patch IN LISTS jemalloc_patches)
  file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/${patch}.patch jemalloc_patch_hash)
  list(APPEND jemalloc_patch_hashes ${jemalloc_patch_hash})
endforeach()
string(JOIN " " jemalloc_configured_by ${RMA_JEMALLOC_SOURCE} ${jemalloc_configure_hash} ${jemalloc_recipe_hash}
       ${jemalloc_patch_hashes} ${CMAKE_C_COMPILER})
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
  file(READ ${jemalloc_dir}/VERSION jemalloc_version)
  foreach(patch IN LISTS jemalloc_patches)
    if(NOT jemalloc_version MATCHES "${jemalloc_versions_of_${patch}}")
      continue()
    endif()
    find_program(RMA_PATCH patch REQUIRED)
    execute_process(COMMAND ${RMA_PATCH} --strip=1 --fuzz=0 --no-backup-if-mismatch
                            --input=${CMAKE_CURRENT_LIST_DIR}/${patch}.patch
                    WORKING_DIRECTORY ${jemalloc_dir} RESULT_VARIABLE jemalloc_status OUTPUT_VARIABLE jemalloc_said
                    ERROR_VARIABLE jemalloc_said)
    if(NOT jemalloc_status EQUAL 0)
      message(FATAL_ERROR "${patch}.patch does not fit jemalloc ${jemalloc_version}:\n${jemalloc_said}")
    endif()
  endforeach()
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

# rma_jemalloc_object(NAME VARIABLE [LAZY] [COMPILE option...] [RENAME symbol...]): jemalloc as one object with private names,
# whose path goes to VARIABLE. The functions of the system that RENAME lists are called as librma_je_<name>. With LAZY, it
# does nothing before its first call.
function(rma_jemalloc_object name variable)
  cmake_parse_arguments(arg "LAZY" "" "COMPILE;RENAME" ${ARGN})
  add_library(${name}_objects OBJECT ${jemalloc_sources})
  # Its own options in every build: a sanitizer is to see what the library does, not its allocator.
  set_target_properties(${name}_objects PROPERTIES
    COMPILE_OPTIONS "-O3;-funroll-loops;-fvisibility=hidden;-w;${arg_COMPILE}" C_EXTENSIONS ON
    POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  # Private names stay as they are: they do not leave the one object.
  target_compile_definitions(${name}_objects PRIVATE _GNU_SOURCE _REENTRANT JEMALLOC_NO_PRIVATE_NAMESPACE)
  target_include_directories(${name}_objects PRIVATE ${jemalloc_dir}/include)
  list(TRANSFORM arg_RENAME REPLACE "(.+)" "--redefine-sym;\\1=librma_je_\\1")
  set(remove "")
  if(arg_LAZY)
    set(remove --remove-section=.init_array --remove-section=.rela.init_array)
  endif()
  set(object ${jemalloc_dir}/${name}.o)
  add_custom_command(
    OUTPUT ${object} DEPENDS ${name}_objects $<TARGET_OBJECTS:${name}_objects>
    COMMAND ${CMAKE_LINKER} -r $<TARGET_OBJECTS:${name}_objects> -o ${object}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${remove} ${arg_RENAME} ${object}
    COMMAND_EXPAND_LISTS VERBATIM)
  set(${variable} ${object} CACHE INTERNAL "jemalloc as one object with private names")
endfunction()

rma_jemalloc_object(rma_jemalloc RMA_JEMALLOC_OBJECT RENAME secure_getenv mmap)
# That of src/process_heap, which is the program's malloc. It is there from the start, so its per-thread state has
# its place from the start too. Otherwise the dynamic loader may allocate to find the place, in the midst of malloc. It is
# lazy, because most processes that load that library do not use it, and it must register its functions with fork() after
# those of process_heap/fork.cpp.
rma_jemalloc_object(rma_jemalloc_startup RMA_JEMALLOC_STARTUP_OBJECT LAZY COMPILE -ftls-model=initial-exec
                    RENAME secure_getenv mmap madvise)
add_custom_target(rma_jemalloc_startup DEPENDS ${RMA_JEMALLOC_STARTUP_OBJECT})

find_package(Threads REQUIRED)
add_library(rma_jemalloc STATIC ${RMA_JEMALLOC_OBJECT})
set_target_properties(rma_jemalloc PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(rma_jemalloc INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
# A shared library that links the archive does not export its names either.
target_link_options(rma_jemalloc INTERFACE -Wl,--exclude-libs,librma_jemalloc.a)

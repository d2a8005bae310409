# Static data by the linkers that are installed, in the layouts that they make: shmem.static-data-<linker>-<layout>.
set(layout_options_pie -pie LINKER:-z,relro LINKER:-z,now)
set(layout_options_lazy -pie LINKER:-z,lazy)
set(layout_options_norelro -pie LINKER:-z,norelro)
set(layout_options_nopie -no-pie)

# ThreadSanitizer has a thread of its own before main(), so the data are registered there.
set(shared shared)
if(RMA_SANITIZE MATCHES thread)
  set(shared registered)
endif()

foreach(linker IN ITEMS bfd gold lld)
  find_program(LD_${linker} ld.${linker})
  if(NOT LD_${linker})
    message(STATUS "No tests of static data with ld.${linker}, which is not installed")
    continue()
  endif()
  foreach(layout IN ITEMS pie lazy norelro nopie)
    set(name shmem-static-data-${linker}-${layout})
    add_executable(${name} static_data.c)
    target_link_libraries(${name} PRIVATE rma::shmem)
    target_compile_options(${name} PRIVATE -Wall -Wextra -pedantic -Werror)
    target_link_options(${name} PRIVATE -fuse-ld=${linker} ${layout_options_${layout}})
    if(layout STREQUAL nopie)
      target_compile_options(${name} PRIVATE -fno-pie)
    else()
      target_compile_options(${name} PRIVATE -fPIE)
    endif()
    add_test(NAME shmem.static-data-${linker}-${layout}.n2 COMMAND $<TARGET_FILE:rmarun> -n 2 --timeout 60
                                                                   $<TARGET_FILE:${name}> ${shared})
    set_tests_properties(shmem.static-data-${linker}-${layout}.n2 PROPERTIES LABELS shmem TIMEOUT 90 PROCESSORS 2)
  endforeach()
endforeach()
add_test(NAME shmem.static-data-registered.n2
         COMMAND $<TARGET_FILE:rmarun> -n 2 --timeout 60 --env RMA_ALIAS=0 $<TARGET_FILE:shmem-static-data-bfd-pie> registered)
if(NOT RMA_SANITIZE MATCHES thread)
  foreach(pes IN ITEMS 2 3)
    add_test(NAME shmem.static-data-mixed.n${pes}
             COMMAND $<TARGET_FILE:rmarun> -n ${pes} --timeout 60 $<TARGET_FILE:shmem-static-data-bfd-pie> mixed)
    set_tests_properties(shmem.static-data-mixed.n${pes} PROPERTIES LABELS shmem TIMEOUT 90 PROCESSORS 2)
  endforeach()
endif()
add_test(NAME shmem.static-data-file-limit.n2
         COMMAND sh -c "ulimit -f 1048576 && exec \"$0\" -n 2 --timeout 60 --env RMA_HEAP_SIZE=64M \"$1\" registered"
                 $<TARGET_FILE:rmarun> $<TARGET_FILE:shmem-static-data-bfd-pie>)
set_tests_properties(shmem.static-data-registered.n2 shmem.static-data-file-limit.n2
                     PROPERTIES LABELS shmem TIMEOUT 90 PROCESSORS 2)

# Two executables of equal sizes whose variables have changed places.
foreach(order IN ITEMS 0 1)
  add_executable(shmem-layout-${order} layout.c)
  target_link_libraries(shmem-layout-${order} PRIVATE rma::shmem)
  target_compile_definitions(shmem-layout-${order} PRIVATE ORDER=${order})
  target_link_options(shmem-layout-${order} PRIVATE LINKER:--build-id)
endforeach()
# layout_test(NAME FIRST SECOND): PE 0 runs FIRST, the others SECOND.
function(layout_test name first second)
  add_test(NAME shmem.${name}.n2
           COMMAND $<TARGET_FILE:rmarun> -n 2 --timeout 60
                   sh -c "if [ $PMIX_RANK = 0 ]; then exec \"$0\"; else exec \"$1\" registered; fi" $<TARGET_FILE:${first}>
                   $<TARGET_FILE:${second}>)
  set_tests_properties(shmem.${name}.n2 PROPERTIES LABELS shmem TIMEOUT 90 PROCESSORS 2 PASS_REGULAR_EXPRESSION
    "shmem_init: this PE and PE [01] do not run the same executable: [0-9]+ and [0-9]+ bytes of static data")
endfunction()
layout_test(other-program shmem-hello shmem-static-data-bfd-pie)
layout_test(other-order shmem-layout-0 shmem-layout-1)

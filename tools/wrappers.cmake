# Scripts with the names that other implementations of an interface have, with the prefix rma_: compilers and launchers.
# A folder of the library has links to them by the usual names, for PATH.
#
# The caller sets wrapper_usual (the folder's name), wrapper_interface, wrapper_standard, and for compilers
# wrapper_include, wrapper_modules, wrapper_libraries and wrapper_extra, with installed_ forms of the first three. It may set
# wrapper_later and installed_later: a folder with libraries for later versions of the compiler.

# From the folders of an installation to each other.
file(RELATIVE_PATH to_lib /p/${CMAKE_INSTALL_BINDIR} /p/${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH to_include /p/${CMAKE_INSTALL_BINDIR} /p/${CMAKE_INSTALL_INCLUDEDIR})

# rma_wrapper(TEMPLATE NAME USUAL_NAME...): one script, in the build and installed, and its links. The global property
# RMA_WRAPPERS lists all scripts, with what their manual pages need (man/CMakeLists.txt).
function(rma_wrapper template wrapper_name)
  if(template STREQUAL compiler.sh.in)
    set(component development)
    set(about "compile and link ${wrapper_interface} programs in ${wrapper_title} over librma|-showme:help")
  else()
    set(component tools)
    set(about "start the ranks of an ${wrapper_interface} program over librma|--help")
  endif()
  set_property(GLOBAL APPEND PROPERTY RMA_WRAPPERS "${wrapper_name}|${component}|${about}")
  set(source ${PROJECT_SOURCE_DIR}/tools/${template})
  set(usual_bin ${CMAKE_INSTALL_LIBDIR}/rma/${wrapper_usual}/bin) # from the prefix
  file(RELATIVE_PATH to_bin /p/${usual_bin} /p/${CMAKE_INSTALL_BINDIR})
  configure_file(${source} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${wrapper_name} @ONLY FILE_PERMISSIONS
                 OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  foreach(part IN ITEMS include modules libraries later)
    set(wrapper_${part} "${installed_${part}}")
  endforeach()
  configure_file(${source} installed/${wrapper_name} @ONLY)
  install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/installed/${wrapper_name} DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT ${component})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${wrapper_usual}/bin ${CMAKE_CURRENT_BINARY_DIR}/installed/links)
  foreach(usual IN LISTS ARGN)
    file(CREATE_LINK ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${wrapper_name} ${PROJECT_BINARY_DIR}/${wrapper_usual}/bin/${usual}
         SYMBOLIC)
    file(CREATE_LINK ${to_bin}/${wrapper_name} ${CMAKE_CURRENT_BINARY_DIR}/installed/links/${usual} SYMBOLIC)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/installed/links/${usual} DESTINATION ${usual_bin}
            COMPONENT ${component})
  endforeach()
endfunction()

# rma_wrapper_compiler(NAME TITLE COMPILER VARIABLE OPTION NAMES USUAL_NAME...)
function(rma_wrapper_compiler wrapper_name wrapper_title wrapper_compiler wrapper_variable wrapper_option wrapper_names)
  set(wrapper_heap "")
  if(TARGET rma_process_heap) # the program's malloc (docs/process_heap.md), which the program need not name
    set(wrapper_heap "-Wl,--push-state,--no-as-needed -lrma_heap -Wl,--pop-state ")
    string(REGEX REPLACE "'$" ":${PROJECT_BINARY_DIR}/lib'" wrapper_libraries "${wrapper_libraries}")
  endif()
  rma_wrapper(compiler.sh.in ${wrapper_name} ${ARGN})
endfunction()

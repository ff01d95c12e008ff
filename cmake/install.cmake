# `cmake --install BUILD [--prefix PREFIX]`: the controller, and where it looks for the virtual rack and for what it
# brings to nodes (orchestrator/ssh/programs.h: ../libexec/cupel of its own folder, so that any prefix does). DESTDIR is
# heeded.
# A component for each Debian package: scripts/packages.sh.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME cupel)
install(TARGETS cupel RUNTIME DESTINATION bin)
install(TARGETS cupel-sim RUNTIME DESTINATION libexec/cupel COMPONENT cupel-sim)
if(CUPEL_SANITIZE)
  install(TARGETS cupel-node RUNTIME DESTINATION libexec/cupel COMPONENT cupel-node)
else()
  install(PROGRAMS ${CMAKE_BINARY_DIR}/cupel-node DESTINATION libexec/cupel COMPONENT cupel-node)  # stripped
endif()
# For nodes of another kind, where they were built (scripts/install --aarch64).
set(arm_programs ${CMAKE_SOURCE_DIR}/build/node-aarch64)
install(PROGRAMS ${arm_programs}/cupel-node ${arm_programs}/burnin/agent/burn/cupel-burn
  DESTINATION libexec/cupel/aarch64 COMPONENT cupel-aarch64 OPTIONAL)
# What RAM systems are built with (`cupel image build`), and the same beside the program that was built.
install(DIRECTORY burnin/ram DESTINATION libexec/cupel USE_SOURCE_PERMISSIONS)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/burnin/ram ${CMAKE_BINARY_DIR}/ram SYMBOLIC)
# What `programs` builds: all that is installed.
add_custom_target(programs DEPENDS cupel cupel-sim cupel-node)
if(TARGET cupel-burn)
  get_target_property(left_out cupel-burn EXCLUDE_FROM_ALL)
  if(NOT left_out)
    add_dependencies(programs cupel-burn)
    # Who builds cupel alone has none.
    install(TARGETS cupel-burn RUNTIME DESTINATION libexec/cupel COMPONENT cupel-burn OPTIONAL)
  endif()
endif()
# The CUDA libraries for nodes that have none, where `scripts/pack-burn BUILD/pack` has put them together.
install(DIRECTORY ${CMAKE_BINARY_DIR}/pack/lib DESTINATION libexec/cupel COMPONENT cupel-burn OPTIONAL
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(FILES LICENSE README.md DESTINATION share/doc/cupel)
install(DIRECTORY docs DESTINATION share/doc/cupel FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "*.py")
# The service's user and folders, and its configuration: in /etc for a package, else below the prefix.
install(FILES cmake/package/cupel.sysusers DESTINATION lib/sysusers.d RENAME cupel.conf)
install(FILES cmake/package/cupel.tmpfiles DESTINATION lib/tmpfiles.d RENAME cupel.conf)
install(FILES cmake/package/inventory.example.yaml DESTINATION share/doc/cupel)
install(CODE "
  set(etc \"\${CMAKE_INSTALL_PREFIX}/etc\")
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(etc /etc)
  endif()
  file(INSTALL \"${CMAKE_SOURCE_DIR}/cmake/package/cupel.default\" DESTINATION \"\${etc}/default\" RENAME cupel)")
# Made from the commands themselves, by the program that was built.
install(CODE "
  # No variable \"cupel\": what follows compares the component with that word, which CMake would replace by it.
  set(built_cupel \"$<TARGET_FILE:cupel>\")
  foreach(shell_file bash:bash-completion/completions/cupel zsh:zsh/site-functions/_cupel
      fish:fish/vendor_completions.d/cupel.fish)
    string(REGEX REPLACE \":.*\" \"\" shell \"\${shell_file}\")
    string(REGEX REPLACE \"^[^:]*:\" \"\" file \"\${shell_file}\")
    set(file \"\${CMAKE_INSTALL_PREFIX}/share/\${file}\")
    message(STATUS \"Installing: \$ENV{DESTDIR}\${file}\")
    execute_process(COMMAND \"\${built_cupel}\" completion \${shell} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE \"\$ENV{DESTDIR}\${file}\" \"\${text}\")
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")
  endforeach()
  set(pages \"\${CMAKE_INSTALL_PREFIX}/share/man/man1\")
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${pages}\")
  message(STATUS \"Installing: \$ENV{DESTDIR}\${pages}\")
  execute_process(COMMAND \"\${built_cupel}\" manual --folder \"\$ENV{DESTDIR}\${pages}\" COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB written RELATIVE \"\$ENV{DESTDIR}\${pages}\" \"\$ENV{DESTDIR}\${pages}/cupel*.1\")
  foreach(page IN LISTS written)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${pages}/\${page}\")
  endforeach()")
# The service of systemd, and a configuration to begin with (docs/do/service.md).
install(FILES cmake/package/cupel.service cmake/package/cupel.socket DESTINATION lib/systemd/system)
install(FILES cmake/package/service.example.yaml DESTINATION share/doc/cupel)
install(FILES orchestrator/api/monitoring/cupel.rules.yaml orchestrator/api/monitoring/cupel-dashboard.json
  DESTINATION share/cupel/monitoring)

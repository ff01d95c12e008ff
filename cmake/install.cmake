# `cmake --install BUILD [--prefix PREFIX]`: the controller, and where it looks for the virtual rack and for what it
# brings to nodes (orchestrator/ssh/programs.h: ../libexec/cupel of its own folder, so that any prefix does). DESTDIR is
# heeded.
install(TARGETS cupel RUNTIME DESTINATION bin)
install(TARGETS cupel-sim RUNTIME DESTINATION libexec/cupel)
if(CUPEL_SANITIZE)
  install(TARGETS cupel-node RUNTIME DESTINATION libexec/cupel)
else()
  install(PROGRAMS ${CMAKE_BINARY_DIR}/cupel-node DESTINATION libexec/cupel)  # stripped
endif()
# For nodes of another kind, where they were built (scripts/install --aarch64).
install(PROGRAMS ${CMAKE_SOURCE_DIR}/build/node-aarch64/cupel-node DESTINATION libexec/cupel/aarch64 OPTIONAL)
# What RAM systems are built with (`cupel image build`), and the same beside the program that was built.
install(DIRECTORY burnin/ram DESTINATION libexec/cupel USE_SOURCE_PERMISSIONS)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/burnin/ram ${CMAKE_BINARY_DIR}/ram SYMBOLIC)
# What `programs` builds: all that is installed.
add_custom_target(programs DEPENDS cupel cupel-sim cupel-node)
if(TARGET cupel-burn)
  get_target_property(left_out cupel-burn EXCLUDE_FROM_ALL)
  if(NOT left_out)
    add_dependencies(programs cupel-burn)
    install(TARGETS cupel-burn RUNTIME DESTINATION libexec/cupel OPTIONAL)  # who builds cupel alone has none
  endif()
endif()
# The CUDA libraries for nodes that have none, where `scripts/pack-burn BUILD/pack` has put them together.
install(DIRECTORY ${CMAKE_BINARY_DIR}/pack/lib DESTINATION libexec/cupel OPTIONAL
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(FILES LICENSE README.md DESTINATION share/doc/cupel)
install(DIRECTORY docs DESTINATION share/doc/cupel FILES_MATCHING PATTERN "*.md")
# Made from the commands themselves, by the program that was built.
install(CODE "
  set(words \"\${CMAKE_INSTALL_PREFIX}/share/bash-completion/completions/cupel\")
  message(STATUS \"Installing: \$ENV{DESTDIR}\${words}\")
  execute_process(COMMAND \"$<TARGET_FILE:cupel>\" completion bash OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE \"\$ENV{DESTDIR}\${words}\" \"\${text}\")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${words}\")")

# What a program that is shipped is compiled and linked with, beside its optimisation: cupel reads what strangers send,
# and cupel-node and cupel-burn run as root. scripts/check-hardening looks for all of it in the file that was linked.
# Sanitizers bring their own checks, and FORTIFY needs optimisation: builds for tests have none of it.
add_library(cupel_hardening INTERFACE)
set(cupel_no_library "$<NOT:$<IN_LIST:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY;MODULE_LIBRARY>>")
target_compile_options(cupel_hardening INTERFACE
  -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -ftrivial-auto-var-init=zero
  $<${cupel_no_library}:-fPIE>)
target_link_options(cupel_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
  $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  target_compile_options(cupel_hardening INTERFACE -fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  target_compile_options(cupel_hardening INTERFACE -mbranch-protection=standard)
endif()

set(CUPEL_HARDENED OFF)
if(NOT CUPEL_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  set(CUPEL_HARDENED ON)
  target_link_libraries(cupel_flags INTERFACE cupel_hardening)
endif()

# Looks at the program that `target` becomes, each time that it is linked.
function(cupel_check_hardening target)
  if(CUPEL_HARDENED)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-hardening $<TARGET_FILE:${target}>)
  endif()
endfunction()

# What runs on the nodes: linked statically but for libc, so that nothing need be installed there. A sanitizer's program
# is for tests alone, so that only another one comes, stripped, to where the controller looks for what it uploads.
set(node_programs ${CMAKE_BINARY_DIR}/node)
file(GLOB node_base CONFIGURE_DEPENDS burnin/agent/common/*.cpp)
list(FILTER node_base EXCLUDE REGEX "/json_(line|value)\\.cpp$")
# JSON as these programs read and write it: for them, and for the stages that a virtual rack links.
add_library(cupel_agent_json STATIC burnin/agent/common/json_line.cpp burnin/agent/common/json_value.cpp)
target_link_libraries(cupel_agent_json PUBLIC cupel_flags Boost::headers)
target_compile_options(cupel_agent_json PUBLIC -ffunction-sections -fdata-sections)
if(NOT CUPEL_SANITIZE)
  target_compile_options(cupel_agent_json PRIVATE -O2)
endif()
add_library(cupel_node_base STATIC ${node_base} base/text.cpp base/result.cpp base/nccl_id.cpp
  base/pci_vpd.cpp)
target_link_libraries(cupel_node_base PUBLIC cupel_flags cupel_agent_json Boost::headers fmt::fmt-header-only ${CMAKE_DL_LIBS})
target_compile_definitions(cupel_node_base PUBLIC CUPEL_VERSION="${PROJECT_VERSION}")
target_compile_options(cupel_node_base PUBLIC -ffunction-sections -fdata-sections)
cupel_batches(cupel_node_base)
# Small wherever they are built, but for what links them as a test: its precompiled header knows no optimisation.
if(NOT CUPEL_SANITIZE)
  target_compile_options(cupel_node_base PRIVATE -O2)
endif()

# cupel_node_program(NAME SOURCES ... [LINK ...]): <build>/node/NAME, and NAME beside the controller.
function(cupel_node_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_link_libraries(${name} PRIVATE cupel_node_base ${PROGRAM_LINK})
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${node_programs})
  cupel_batches(${name})
  if(NOT CUPEL_SANITIZE)
    target_compile_options(${name} PRIVATE -O2)
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
      COMMAND ${CMAKE_STRIP} -o ${CMAKE_BINARY_DIR}/${name} $<TARGET_FILE:${name}>
      COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-node-program ${CMAKE_BINARY_DIR}/${name})
  endif()
  cupel_check_hardening(${name})
endfunction()

# How lines of the kernel's log are recognized: for cupel-node, and for the virtual one of a rehearsal.
file(GLOB messages CONFIGURE_DEPENDS burnin/agent/node/*_messages.cpp)
add_library(cupel_kernel_messages STATIC ${messages} burnin/agent/node/message_text.cpp burnin/agent/node/tree.cpp)
target_link_libraries(cupel_kernel_messages PUBLIC cupel_flags Boost::headers)
target_compile_options(cupel_kernel_messages PUBLIC -ffunction-sections -fdata-sections)
if(NOT CUPEL_SANITIZE)
  target_compile_options(cupel_kernel_messages PRIVATE -O2)
endif()

# What files report of a host's parts: for `facts`, for stages, and for the controller, which reads with it what a job of an
# earlier version printed. No fmt, as below.
set(host_parts dimms host host_parts infiniband kernel nics nvme)
list(TRANSFORM host_parts REPLACE "(.+)" "burnin/agent/node/facts/\\1.cpp")
add_library(cupel_host_parts STATIC ${host_parts})
target_link_libraries(cupel_host_parts PUBLIC cupel_kernel_messages cupel_agent_json)
if(NOT CUPEL_SANITIZE)
  target_compile_options(cupel_host_parts PRIVATE -O2)
endif()
cupel_batches(cupel_host_parts)

# What a stage does on a node: for cupel-node, and for the virtual nodes of a rehearsal. No fmt: a precompiled header knows
# how the rooms use it.
file(GLOB stages CONFIGURE_DEPENDS burnin/agent/node/stages/*.cpp)
add_library(cupel_node_stages STATIC ${stages})
target_link_libraries(cupel_node_stages PUBLIC cupel_host_parts)
target_compile_definitions(cupel_node_stages PRIVATE CUPEL_VERSION="${PROJECT_VERSION}")
if(NOT CUPEL_SANITIZE)
  target_compile_options(cupel_node_stages PRIVATE -O2)
endif()
cupel_batches(cupel_node_stages)

file(GLOB_RECURSE node_sources CONFIGURE_DEPENDS burnin/agent/node/*.cpp)
list(FILTER node_sources EXCLUDE REGEX
  "/node/(boot|check|facts|stages|watch)/|/node/(tree|efi_variables|node_scratch|(kernel|hardware|system)_messages|message_text)\\.cpp$")
# What reads the node (`facts`, `watch`) and its scratch folders, for cupel-node and for tests.
file(GLOB_RECURSE reading CONFIGURE_DEPENDS burnin/agent/node/facts/*.cpp burnin/agent/node/watch/*.cpp
  burnin/agent/node/check/*.cpp)
list(FILTER reading EXCLUDE REGEX "/facts/(dimms|host|host_parts|infiniband|kernel|nics|nvme)\\.cpp$")
add_library(cupel_node_reading STATIC ${reading} burnin/agent/node/efi_variables.cpp burnin/agent/node/node_scratch.cpp)
target_link_libraries(cupel_node_reading PUBLIC cupel_node_stages cupel_host_parts cupel_node_base)
if(NOT CUPEL_SANITIZE)
  target_compile_options(cupel_node_reading PRIVATE -O2)
endif()
cupel_batches(cupel_node_reading)
# What runs in the RAM system (`boot`), for cupel-node and for tests.
file(GLOB boot CONFIGURE_DEPENDS burnin/agent/node/boot/*.cpp)
add_library(cupel_node_boot STATIC ${boot})
target_link_libraries(cupel_node_boot PUBLIC cupel_node_reading)
if(NOT CUPEL_SANITIZE)
  target_compile_options(cupel_node_boot PRIVATE -O2)
endif()
cupel_batches(cupel_node_boot)
cupel_node_program(cupel-node SOURCES ${node_sources} LINK cupel_node_boot cupel_node_stages)

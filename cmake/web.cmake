# The page of `cupel serve`, bundled from orchestrator/web and compiled into the program. It needs node and npm, and
# npm's registry once; without them the program has no page, and all else is the same.
option(CUPEL_WEB "bundle the page of cupel serve (needs nodejs and npm)" ON)
set(cupel_web ${CMAKE_SOURCE_DIR}/orchestrator/web)
set(cupel_web_built ${CMAKE_BINARY_DIR}/web)
set(cupel_web_missing "")  # why there is no page

# The packages of the lock file, exactly, in the build's own folder. Once for each lock file.
function(cupel_web_packages)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cupel_web}/package-lock.json)
  file(SHA256 ${cupel_web}/package-lock.json lock)
  set(stamp ${cupel_web_built}/installed)
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
    if(installed STREQUAL lock)
      return()
    endif()
  endif()
  file(COPY ${cupel_web}/package.json ${cupel_web}/package-lock.json DESTINATION ${cupel_web_built})
  message(STATUS "npm ci: the packages of the page")
  execute_process(COMMAND ${CUPEL_NPM} ci --ignore-scripts --no-audit --no-fund --no-update-notifier --prefer-offline
    WORKING_DIRECTORY ${cupel_web_built} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 300)
  if(failed)
    message(STATUS "${output}")
    set(cupel_web_missing "npm ci failed in ${cupel_web_built} (${failed})" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} ${lock})
endfunction()

if(CUPEL_WEB)
  find_program(CUPEL_NODE NAMES node nodejs)
  find_program(CUPEL_NPM npm)
  if(NOT CUPEL_NODE OR NOT CUPEL_NPM)
    set(cupel_web_missing "nodejs or npm is not installed (apt-get install nodejs npm)")
  else()
    execute_process(COMMAND ${CUPEL_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^v" "" version "${version}")
    if(version VERSION_LESS 18)
      set(cupel_web_missing "node is ${version}, and must be 18 or later")
    else()
      cupel_web_packages()
    endif()
  endif()
  if(cupel_web_missing)
    message(STATUS "No page: ${cupel_web_missing}. cupel serve works without it; to build it, mend this and run cmake again.")
  endif()
else()
  set(cupel_web_missing "CUPEL_WEB is OFF")
endif()

set(web_files ${cupel_web_built}/web_files.cpp)
if(cupel_web_missing)
  set(web_files ${cupel_web_built}/no_web_files.cpp)
  file(CONFIGURE OUTPUT ${web_files} CONTENT "#include \"orchestrator/web/web_files.h\"
namespace cupel::web {
std::span<const File> files() { return {}; }
}  // namespace cupel::web
")
else()
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${cupel_web}/src/*)
  add_custom_command(OUTPUT ${web_files}
    COMMAND ${CUPEL_NODE} ${cupel_web}/build.mjs --modules ${cupel_web_built} --out ${cupel_web_built}
    DEPENDS ${web_sources} ${cupel_web}/build.mjs ${cupel_web}/package-lock.json VERBATIM)
endif()
target_sources(cupel_orchestrator PRIVATE ${web_files})
set_source_files_properties(${web_files} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# For the compiler of TypeScript, which looks for packages beside the sources alone.
if(NOT cupel_web_missing)
  file(CONFIGURE OUTPUT ${cupel_web_built}/tsconfig.json CONTENT "{
  \"extends\": \"${cupel_web}/tsconfig.json\",
  \"compilerOptions\": {\"paths\": {\"*\": [\"${cupel_web_built}/node_modules/*\"]}},
  \"include\": [\"${cupel_web}/src\"]
}
")
endif()

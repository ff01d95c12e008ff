# Tests of the page. Where it could not be built they are skipped, and say why; CI installs what they need, and fails.
if(NOT CUPEL_WEB)
  return()
endif()
if(cupel_web_missing)
  add_test(NAME Page.IsBuilt COMMAND ${CMAKE_COMMAND} "-DWHY=${cupel_web_missing}" -P ${CMAKE_CURRENT_LIST_DIR}/not_built.cmake)
  set_tests_properties(Page.IsBuilt PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  return()
endif()
add_test(NAME Page.HasTheTypesThatItSays COMMAND ${CUPEL_NODE} ${cupel_web_built}/node_modules/typescript/bin/tsc -p ${cupel_web_built}/tsconfig.json)
set_tests_properties(Page.HasTheTypesThatItSays PROPERTIES TIMEOUT 300)
# The page in a browser, served by the program that was built.
find_program(CUPEL_CHROMIUM chromium)
if(NOT EXISTS ${CMAKE_SOURCE_DIR}/orchestrator/cli/serve_command.cpp)
  return()  # nothing serves it
endif()
if(CUPEL_CHROMIUM)
  add_test(NAME Page.InABrowser COMMAND ${CUPEL_NODE} --test-reporter=spec ${CMAKE_CURRENT_LIST_DIR}/page.test.mjs --cupel $<TARGET_FILE:cupel>
    --modules ${cupel_web_built} --shots ${cupel_web_built}/shots)
  set_tests_properties(Page.InABrowser PROPERTIES TIMEOUT 1200)
else()
  add_test(NAME Page.InABrowser COMMAND ${CMAKE_COMMAND} "-DWHY=chromium is not installed" -P ${CMAKE_CURRENT_LIST_DIR}/not_built.cmake)
  set_tests_properties(Page.InABrowser PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endif()

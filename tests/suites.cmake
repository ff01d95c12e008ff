# Run after the build of a test program: cmake -DPROGRAM=... -DOUT=... -DTIMEOUT=... -DCOSTS=... -P suites.cmake
# Writes a test of ctest for each suite, that is, one process for what its tests share; and for each test that COSTS names.
# COSTS: "SUITE=SECONDS" or "SUITE.TEST=SECONDS", of those with which ctest should begin.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=-Long* OUTPUT_VARIABLE listed
  COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(program ${PROGRAM} NAME)
set(text)

function(add name filter cost)
  string(APPEND text "add_test([==[${program}.${name}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${filter}]==] --gtest_brief=1)\n"
    "set_tests_properties([==[${program}.${name}]==] PROPERTIES TIMEOUT ${TIMEOUT} COST ${cost} LABELS whole)\n")
  set(text "${text}" PARENT_SCOPE)
endfunction()

string(REGEX MATCHALL "(^|\n)[^ \n]+\\.[^\n]*" suites "${listed}")
foreach(line IN LISTS suites)
  string(REGEX REPLACE "^\n?([^ ]+)\\..*" "\\1" suite "${line}")
  set(cost 0)
  set(apart)
  foreach(known IN LISTS COSTS)
    if(known MATCHES "^${suite}=([0-9]+)$")
      set(cost ${CMAKE_MATCH_1})
    elseif(known MATCHES "^(${suite}\\.[^=]+)=([0-9]+)$")
      string(APPEND apart ":${CMAKE_MATCH_1}")
      add(${CMAKE_MATCH_1} ${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  string(REGEX REPLACE "^:" "-" apart "${apart}")
  add(${suite} "${suite}.*${apart}" ${cost})
endforeach()
file(WRITE ${OUT} "${text}")

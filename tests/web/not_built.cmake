if("$ENV{CUPEL_REQUIRE_REAL_PARTS}" STREQUAL "1")
  message(FATAL_ERROR "The page was not built, and here it must be: ${WHY}.")
endif()
message("skipped: the page was not built: ${WHY}.")

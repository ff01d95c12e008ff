# CUPEL_BATCHES: files of one target compiled together, some ten at a time (CMake's unity builds). Most of the time to
# compile goes into what many files instantiate alike; in a batch it is compiled once. For builds that run from start to
# end, as scripts/test does; whoever works on a file builds it alone (docs/decisions/batches.md).
#
# Two files that give the same name to different things, each in its anonymous namespace, cannot be compiled together.
# So each file's names at namespace scope are collected, by the formatted source's columns, and a file goes into the
# first batch that has none of them; nor where one hides, from the other, a name of a header. What this does not see
# ends in a compiler's error about the name: rename the one, or add the file to `CUPEL_ALONE`.
option(CUPEL_BATCHES "compile the files of a target in batches" OFF)
set(CUPEL_BATCHED "" CACHE STRING "targets that are compiled in batches though the others are not: cupel_cli;orchestrator_test")
set(CUPEL_ALONE
  base/boost_sources.cpp            # as large as a batch
  base/result.cpp                   # in two libraries, which one program links: of each only one may be pulled in
  base/text.cpp                     # the same
  base/pkcs11.cpp                   # the standard's header leaves macros behind: reserved, TRUE
  rehearsal/bmc/server.cpp          # the same
  tests/support/https_server.cpp    # the same
  rehearsal/bmc/firmware.cpp        # the words() that it means is another file's in its batch
  rehearsal/rack_inventory.cpp      # its quoted() beside std::quoted
  rehearsal/read_faults.cpp         # its Word beside that of shell/syntax.h
  rehearsal/tools/fio.cpp           # its Job beside that of bmc/state.h
)
set(CUPEL_BATCH 12)

# The names that `text` declares at namespace scope, and its constants and aliases of any scope (-Wshadow).
function(cupel_names text out)
  string(REGEX REPLACE "[][]" " " text "${text}")  # a list's own signs in CMake
  set(name "[A-Za-z_][A-Za-z_0-9]*")
  set(names)
  string(REGEX MATCHALL "\n(struct|class|enum class|enum|union|namespace|concept) ${name}" found "${text}")
  foreach(match IN LISTS found)
    string(REGEX REPLACE ".* " "" match "${match}")
    list(APPEND names ${match})
  endforeach()
  string(REGEX MATCHALL "using ${name} =|[ \n*&]k[A-Z][A-Za-z0-9]* *(=|{)" found "${text}")
  foreach(match IN LISTS found)
    string(REGEX REPLACE "using | =|[ \n*&{=]" "" match "${match}")
    list(APPEND names ${match})
  endforeach()
  # Functions and variables; those of classes are not at stake.
  string(REGEX MATCHALL "\n[A-Za-z][^\n;(){}=#]*[({=]" found "${text}")
  foreach(match IN LISTS found)
    if(NOT match MATCHES "\n(TEST|INSTANTIATE|namespace|struct|class|enum|using)" AND match MATCHES "[ *&](${name}) *[({=]$")
      list(APPEND names ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(REMOVE_ITEM names main detail cupel class)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# What `room`'s headers and the base's declare.
function(cupel_header_names room out)
  get_property(names GLOBAL PROPERTY cupel_names_${room})
  if(NOT names)
    file(GLOB_RECURSE headers ${CMAKE_SOURCE_DIR}/base/*.h ${CMAKE_SOURCE_DIR}/${room}/*.h)
    foreach(header IN LISTS headers)
      file(READ ${header} text)
      string(REGEX REPLACE "\n +[^\n]*" "" text "${text}")  # of classes
      cupel_names("${text}" more)
      list(APPEND names ${more})
    endforeach()
    list(REMOVE_DUPLICATES names)
    set_property(GLOBAL PROPERTY cupel_names_${room} "${names}")
  endif()
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Whether `text` uses one of `names`.
function(cupel_mentions text names out)
  set(${out} FALSE PARENT_SCOPE)
  foreach(name IN LISTS names)
    if(text MATCHES "[^A-Za-z0-9_]${name}[^A-Za-z0-9_]")
      set(${out} TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Puts the sources of `target` that lie in the house into batches.
function(cupel_batches target)
  if(NOT CUPEL_BATCHES AND NOT target IN_LIST CUPEL_BATCHED)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH short ${CMAKE_SOURCE_DIR} ${path})
    if(NOT short MATCHES "\\.cpp$" OR short MATCHES "^(\\.\\.|build)/" OR short IN_LIST CUPEL_ALONE)
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    cupel_names("${text}" names)
    string(REGEX MATCH "^[^/]+" room ${short})
    cupel_header_names(${room} public)
    set(hides)
    string(FIND "${text}" "\nnamespace {\n" begin)
    string(FIND "${text}" "\n}  // namespace\n" end)
    if(begin GREATER -1 AND end GREATER begin)
      math(EXPR length "${end} - ${begin}")
      string(SUBSTRING "${text}" ${begin} ${length} text)
      cupel_names("${text}" own)
      foreach(name IN LISTS own)
        if(name IN_LIST public)
          list(APPEND hides ${name})
        endif()
      endforeach()
    endif()
    file(READ ${path} text)
    set(batch 0)
    set(fits FALSE)
    while(NOT fits)
      math(EXPR batch "${batch} + 1")
      set(fits TRUE)
      if(count_${batch} AND count_${batch} GREATER_EQUAL CUPEL_BATCH)
        set(fits FALSE)
        continue()
      endif()
      foreach(name IN LISTS names)
        if(name IN_LIST names_${batch})
          set(fits FALSE)
          break()
        endif()
      endforeach()
      cupel_mentions("${text}" "${hides_${batch}}" one)
      cupel_mentions("${text_${batch}}" "${hides}" other)
      if(one OR other)
        set(fits FALSE)
      endif()
    endwhile()
    list(APPEND hides_${batch} ${hides})
    string(APPEND text_${batch} "${text}")
    list(APPEND names_${batch} ${names})
    if(NOT count_${batch})
      set(count_${batch} 0)
    endif()
    math(EXPR count_${batch} "${count_${batch}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${batch})
  endforeach()
endfunction()

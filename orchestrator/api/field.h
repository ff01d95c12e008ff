#pragma once
// What a value of a request or of an answer must be: one description, by which requests are checked
// and the OpenAPI document is written.
#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/api/problem.h"

namespace cupel::api {

struct Field {
  enum class Kind {
    text,     // 1 to `most` bytes, without control characters
    integer,  // from `least` to `most`
    flag,
    word,    // one of `words`
    cursor,  // as an earlier answer had it
    page,    // the same, of a list: a number
    name,    // of a node, a step or a measure: letters, digits, and . _ - @ / :
    digest,  // SHA-256, hexadecimal
    time,    // RFC 3339
    number,
    texts,     // a list; of a request at most 64, each as `text`
    settings,  // an object of texts
    object,    // of answers alone: see `what`
    list,
    any,
  };
  std::string_view name{};
  Kind kind = Kind::text;
  std::string_view what{};
  bool required = false;
  std::int64_t least = 0;
  std::int64_t most = 1000;
  std::span<const std::string_view> words{};
};

/// As OpenAPI 3.1 has it (JSON Schema 2020-12).
boost::json::object schema_of(const Field& field);
/// An object of them; `closed`: it has no others.
boost::json::object schema_of(std::span<const Field> fields, bool closed);

/// What is wrong with the text; empty: nothing.
std::string wrong_text(const Field& field, std::string_view text);

/// Every fault of the body's members: wrong, missing, unknown.
std::vector<Fault> faults_in(std::span<const Field> fields, const boost::json::object& body);

}  // namespace cupel::api

#pragma once
// What went wrong, for programs and for people: problem details. Source: RFC 9457.
#include <chrono>
#include <string>
#include <vector>

#include "orchestrator/api/exchange.h"

namespace cupel::api {

/// A value of the request that is wrong.
struct Fault {
  std::string where{};  // "body.node", "query.limit", "path.run"
  std::string what{};
};

struct Problem {
  unsigned status = 500;
  std::string code{};    // "not-found": stable
  std::string detail{};  // a sentence
  std::vector<Fault> faults{};
  std::chrono::seconds retry_after{0};           // 0: not given
  std::string allow{};                           // of 405
  std::pair<std::string, std::string> accept{};  // of 415: the field that says what is taken
};

Answer answer_of(const Problem& problem);

/// An error of the inside as a client sees it.
Problem problem_of(const Error& error);

Problem not_found(std::string what);
Problem invalid(std::string detail, std::vector<Fault> faults = {});

}  // namespace cupel::api

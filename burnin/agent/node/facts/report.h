#pragma once
// The one document that `facts` prints, while it is written. What could not be read is left out of
// its place and reported at the end, with where it was looked for and why it is not there.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/common/json_line.h"

namespace cupel::agent {

class Report {
 public:
  static constexpr std::size_t kMostUnknown = 1000;

  JsonLine line{"facts"};

  template <class Value>
  void add(std::string_view key, const std::optional<Value>& value) {
    if (!value) return;
    if constexpr (std::is_same_v<Value, unsigned>)
      line.add(key, static_cast<std::int64_t>(*value));
    else if constexpr (std::is_same_v<Value, std::string>)
      line.add(key, std::string_view{*value});
    else
      line.add(key, *value);
  }

  void unknown(std::string fact, std::string source, std::string why) {
    if (unknown_.size() < kMostUnknown)
      unknown_.push_back({std::move(fact), std::move(source), std::move(why)});
  }

  /// The whole line. Once.
  const JsonLine& finish() {
    line.array("unknown");
    for (const auto& each : unknown_) {
      line.object();
      line.add("fact", std::string_view{each.fact}).add("source", std::string_view{each.source});
      line.add("why", std::string_view{each.why}).end();
    }
    line.end();
    return line;
  }

 private:
  struct Unknown {
    std::string fact, source, why;
  };
  std::vector<Unknown> unknown_;
};

}  // namespace cupel::agent

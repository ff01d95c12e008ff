#pragma once
// The summary of a whole watch: minimum, mean and maximum of each value, the growth of each
// counter, how long each GPU was throttled and why, kernel messages by class and part. Bounded.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "burnin/agent/common/json_line.h"
#include "burnin/agent/node/kernel_messages.h"
#include "burnin/agent/node/watch/reading.h"

namespace cupel::agent {

class WatchSummary {
 public:
  static constexpr std::size_t kMostRows = 8192;

  /// `seconds`: how long the readings stand for, until the next ones.
  void add(const std::vector<Reading>& readings, double seconds);
  /// True where it is the first of its class, code and part.
  bool add(const KernelMessage& message, const std::string& part);
  /// "values", "counters", "throttled", "messages".
  void write(JsonLine& line) const;

 private:
  struct Series {
    double least = 0, most = 0, sum = 0, first = 0, last = 0, grown = 0;
    std::uint64_t count = 0;
    void add(double value, bool counts);
  };
  struct MessageKey {
    MessageKind kind;
    Weight weight;
    int code;  // -1: none
    std::string part;
    auto operator<=>(const MessageKey&) const = default;
  };
  template <class Value>
  using ByPart = std::map<std::pair<std::string, std::string_view>, Value>;

  ByPart<Series> series_;
  ByPart<double> throttled_;  // seconds
  std::map<MessageKey, std::uint64_t> messages_;
};

}  // namespace cupel::agent

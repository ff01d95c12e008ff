#pragma once
// What makes a virtual BMC answer otherwise than it should: rules, held against each request as it
// comes. Not a fault of the machine (fault.h); as YAML: read_rules.h.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cupel::rehearsal {

/// What a rule does to a request that fits it.
enum class Does {
  latency,     // it is answered properly, late
  merge,       // something is merged into the proper answer (RFC 7396)
  replace,     // the proper answer has another body
  status,      // it is not carried out; this is the answer instead
  drop,        // nor this; the connection is reset
  truncate,    // the proper answer breaks off, and the connection with it
  black_hole,  // it is not carried out; no answer comes, ever, and the connection stays
};

struct Rule {
  std::string method{};               // empty: any
  std::string path{};                 // * stands for anything; empty: any
  std::string odata_id{};             // instead of path: one resource, wherever it is shown
  Does does = Does::latency;          //
  int times = 1;                      // 0: always
  int skip = 0;                       // let so many that fit pass first
  int status = 0;                     // of the answer; 0: as it is, 200 where there is none
  std::optional<std::string> body{};  // of status and replace
  json::object merge{};               //
  std::map<std::string, std::string> headers{};  // besides the proper ones
  std::size_t bytes = 0;                         // of truncate: so many of the body are sent
  bool effect = false;                // of status, drop, black_hole: it is carried out all the same
  std::chrono::milliseconds late{0};  // of our time: the client's clock counts it
  std::chrono::milliseconds jitter{0};  // at most so much later still
  std::string note{};                   // for people
  friend bool operator==(const Rule&, const Rule&) = default;
};

/// The rules of one BMC, and how often each was met.
class RuleSet {
 public:
  static constexpr std::size_t kMost = 256;

  /// Jitter is drawn from it: the same for the same, request by request.
  explicit RuleSet(std::string seed) : seed_{std::move(seed)} {}

  /// False where there are kMost already. Those that are used up make room.
  bool add(Rule rule);
  void clear() { rules_.clear(); }
  bool empty() const { return rules_.empty(); }
  /// How often one of them has done something.
  std::uint64_t used() const { return used_; }
  /// There is something for change_inside().
  bool looks_inside() const;

  /// What they make of one request.
  struct Met {
    const Rule* rule = nullptr;         // the first that fits and does more than to be late
    std::chrono::milliseconds late{0};  // of that rule and of all latencies that fit
  };
  /// Counts. The rule is good until the set next changes. Path without a slash at its end.
  Met meet(std::string_view method, std::string_view path);

  /// Merges and replaces of one resource, where an answer shows it within another. Counts. False
  /// where nothing was changed.
  bool change_inside(std::string_view method, std::string_view path, json::value& body);

 private:
  struct Active {
    Rule rule;
    std::uint64_t number = 0;
    int met = 0;
  };

  static bool is_spent(const Active& active);
  static bool is_inside(const Active& active);
  static bool asks_for(const Rule& rule, std::string_view method, std::string_view path);
  bool takes(Active& active);
  std::chrono::milliseconds draw(const Active& active) const;

  std::string seed_;
  std::uint64_t added_ = 0, used_ = 0;
  std::vector<Active> rules_{};
};

}  // namespace cupel::rehearsal

#pragma once
// The knowledge base: from a finding to the parts that are likely behind it, the test that tells
// them apart, the remedy, and what a vendor wants to see. Data (causes.yaml); pure. It explains a
// verdict and never changes one.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/criteria/judge.h"
#include "burnin/verdict.h"
#include "inventory/problem.h"

namespace cupel::burnin {

struct Suspect {
  std::string part{};  // "gpu3", "the slot of gpu3: ..."
  double share = 0;    // 0 to 1; those of one diagnosis add up to 1
  friend bool operator==(const Suspect&, const Suspect&) = default;
};

struct Diagnosis {
  std::string name{};               // of the entry: "gpu-off-bus"
  std::vector<Suspect> suspects{};  // the likeliest first
  std::string apart{};              // the next test
  std::string remedy{};
  std::vector<std::string> vendor{};  // what it wants to see
  std::string xid_action{};           // NVIDIA's own words; empty where it is no Xid
  /// Two or more that explain it about equally: both are to be named.
  bool is_open() const;
  friend bool operator==(const Diagnosis&, const Diagnosis&) = default;
};

/// What NVIDIA's catalogue recommends for one Xid.
struct XidAdvice {
  int code = 0;
  std::string now{}, then{};  // words of the catalogue: "RESET_GPU"; empty: none
};

struct CauseEntry {
  std::string name{};
  std::vector<std::string> criteria{}, with{};
  std::string part = "*";
  std::vector<double> values{};
  // Events that were seen before the finding, or after it: measures, "kernel.xid.79".
  std::vector<std::string> after{}, before{};
  std::string of{};  // the part that they are of, '*' for any text; empty: the finding's own
  std::vector<Suspect> likely{};
  std::string apart{}, remedy{};
  std::vector<std::string> vendor{};
};

class Causes {
 public:
  /// Each fault becomes a problem: shares that do not add up to 1, an unknown action or measure, an
  /// Xid twice, a text that is missing.
  static std::optional<Causes> parse(std::string_view text, const std::string& file,
                                     std::vector<inventory::Problem>& problems);

  /// Of one cause among all of its node; of a comparison ("fleet: hbm.copy") as of its measure.
  /// Nothing where no entry fits, or where the nodes fall into two groups. `findings` have the
  /// times at which events were first seen ("first.kernel.xid.79"); only those of one stage are
  /// compared, which one clock has measured. Without them, or with equal ones, no order is known,
  /// and entries that ask for one do not fit.
  std::optional<Diagnosis> diagnose(const Cause& cause, std::span<const Cause> all,
                                    const FindingsByStage& findings) const;

  /// Whether what is known of one of them depends on the order of events: then diagnose() needs
  /// the findings of the node's whole run; otherwise it returns the same without any.
  bool asks_for_order(std::span<const Cause> causes) const;

  /// "RESET_GPU: reset the GPU, or restart the machine; then CONTACT_SUPPORT: ..."; empty where the
  /// catalogue recommends nothing or does not list the code.
  std::string advice_for_xid(int code) const;

  std::span<const CauseEntry> entries() const { return entries_; }
  std::span<const XidAdvice> xids() const { return xids_; }

 private:
  std::vector<CauseEntry> entries_{};
  std::vector<XidAdvice> xids_{};
  std::vector<std::pair<std::string, std::string>> actions_{};
  const std::string* action(std::string_view word) const;
  friend class CausesReader;
};

/// The one that is shipped.
const Causes& causes();

/// "gpu3 or the slot of gpu3: ... (equally likely)", "gpu3 (90 %), heat of gpu3 (10 %)".
std::string suspects_text(const Diagnosis& diagnosis);

}  // namespace cupel::burnin

#pragma once
// A stage that is one measurement of several nodes. Each member has a job of its own (server and
// client, rank 2 of 8), one member may hand a value to the others (a port and a token, an NCCL id),
// and what all of them reported is analysed together. How the jobs are run, and ended together, is
// in orchestrator/steps/group_members.h.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "burnin/stage.h"
#include "inventory/fabric.h"
#include "inventory/forwarding.h"
#include "inventory/fwd.h"
#include "inventory/nccl_settings.h"
#include "inventory/subject.h"

namespace cupel::burnin {

/// A node that takes part.
struct Member {
  std::string node;
  std::string address;  // host name or address, as the inventory has it
  friend bool operator==(const Member&, const Member&) = default;
};

/// In a round, what a member runs that waits for a leader's value: made of that value, which is
/// part of the order of cupel-node and no word of the script.
struct WithShared {
  std::function<std::string(const std::string& shared)> script{};
  /// Run first. The scripts of all who wait for the same leader begin when none of their checks
  /// says no; else none does.
  std::function<std::string(const std::string& shared)> check{};
  /// Why a check that ran to its end says no; empty: it does not.
  std::string (*refusal)(const Output& checked) = nullptr;
};

/// What one member runs. Exit status 0: its part is done. Any other ends the jobs of all members.
struct MemberJob {
  std::string role;               // "server", "client", "rank 2 of 8"
  std::string script;             // of GroupStage::prepare_group: finds the shared value in $shared
  std::chrono::seconds limit{0};  // of this job, in a round; 0: the stage's
  /// In a round: the member whose report holds what this one waits for (GroupRounds::shared);
  /// itself, where it is that one. Nothing: it waits for nobody.
  std::optional<std::size_t> leader{};
  WithShared with_shared{};  // in place of `script`, of a member that waits
};

/// A number that belongs to two nodes alike, or to all that are behind a part of a switch.
struct LinkMeasurement {
  inventory::Subject link;
  Measurement measured;               // its `part` stays empty: the link says it
  std::vector<std::string> behind{};  // nodes that are judged by it, beside those that it names
  friend bool operator==(const LinkMeasurement&, const LinkMeasurement&) = default;
};

struct GroupFindings {
  std::vector<Findings> members{};  // in the members' order
  std::vector<LinkMeasurement> links{};
  std::vector<std::string> reasons{};  // for people and records: what the findings rest on
};

/// What a stage of several rounds is begun with. Lives as long as the rounds.
struct RoundsRequest {
  const inventory::Profile& profile;
  std::span<const Member> members;
  const Parameters& parameters;
  const inventory::Fabric* fabric = nullptr;      // as planned; nullptr: the inventory has no plan
  const inventory::NcclSettings* nccl = nullptr;  // nullptr: the inventory says nothing of it
  /// What a stage found before in this run, in another step than this one, on each member in their
  /// order; nothing of one on which it did not end well. Reads the record: to be called once a
  /// stage. Empty: there is none to read.
  std::function<std::vector<std::optional<Findings>>(std::string_view stage)> found_before{};
  const inventory::ForwardingTables* forwarding = nullptr;  // nullptr, or empty: not known
};

/// A measurement of several rounds, in which the next one depends on what was measured before. A
/// round's jobs run at the same time.
class GroupRounds {
 public:
  virtual ~GroupRounds() = default;
  /// A job for each member, in their order; nothing: it rests. Empty: all is measured.
  virtual std::vector<std::optional<MemberJob>> next() = 0;
  /// What each member reported in this round. Nothing of one that rested; nor of one whose job
  /// failed, which gets no job any more.
  virtual void take(std::span<const std::optional<Output>> outputs,
                    const std::vector<bool>& left) = 0;
  /// What the leader's report so far holds for the members that wait for it, as
  /// GroupStage::shared; nothing: not yet. Errors: what it holds must not be used.
  virtual Result<std::optional<std::string>> shared(std::size_t leader,
                                                    std::string_view output) const;
  /// Why nobody who waited for this leader was begun in this round: before take().
  virtual void gave_up(std::size_t leader, std::string_view why);
  /// Errors: as Stage::parse.
  virtual Result<GroupFindings> findings() const = 0;
};

struct GroupStage {
  std::size_t least = 2;
  std::size_t most = 2;

  /// A job for each member, in their order. The expected time and the limit of each are those of
  /// Stage::prepare, whose script is not run. Errors: kInvalid, naming the parameter or the member.
  Result<std::vector<MemberJob>> (*prepare_group)(std::span<const Member> members,
                                                  const Parameters& parameters) = nullptr;

  /// What the first member hands to the others, as soon as its output so far contains it; they
  /// begin then. Letters, digits and " .:_+/=-" only. nullptr: all begin at once.
  std::optional<std::string> (*shared)(std::string_view output) = nullptr;

  /// Pure. Of members that all ended with status 0. Errors: as Stage::parse.
  Result<GroupFindings> (*analyse_group)(const inventory::Profile& profile,
                                         std::span<const Member> members,
                                         std::span<const Output> outputs) = nullptr;

  /// Of a stage of several rounds, instead of the three above. Errors: as prepare_group.
  Result<std::unique_ptr<GroupRounds>> (*rounds)(const RoundsRequest& request) = nullptr;

  /// Whether it measures the cables of the site's plan: nodes that are not in the plan take no
  /// part.
  bool (*needs_plan)(const Parameters& parameters) = nullptr;
};

/// Whether a value may be handed to a member: by the signs that GroupStage::shared allows, and at
/// most 1024 of them.
bool is_shared_value(std::string_view value);

}  // namespace cupel::burnin

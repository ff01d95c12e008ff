#pragma once
// The durable memory of one admin node: runs, their events, who holds which node, which keys were
// seen. SQLite in WAL mode in one directory, or PostgreSQL where the directory's store.yaml names a
// server; evidence lies as files named by their SHA-256 in the directory, or in a table of the
// server. Blocking, each call a few milliseconds (an fsync). SOCI stays behind this header.
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bmc/memory.h"
#include "inventory/trust.h"
#include "orchestrator/engine/command.h"
#include "orchestrator/engine/interfaces.h"

namespace cupel::engine {
class Clock;
}

namespace cupel::store {

using engine::Event;
using engine::RunId;
using engine::RunPhase;
using engine::WallTime;

/// All that is needed to do a run again from where it stopped.
struct Run {
  RunId id = 0;
  std::string playbook{};  // its name
  std::string playbook_file{};
  std::string playbook_text{};
  std::string inventory_file{};
  std::string inventory_digest{};
  std::vector<std::string> nodes{};
  RunPhase phase = RunPhase::running;
  WallTime began{};
  WallTime ended{};
  std::string options{};  // how it is accompanied, in its front door's own words
};

struct EventRow;

/// `$CUPEL_STATE`, else /var/lib/cupel for root, else ~/.local/state/cupel.
std::filesystem::path default_folder();

class Store : public inventory::KnownKeys, public bmc::Memory {
 public:
  /// Opens or makes it; migrates an older schema. Errors: kStorage; kInvalid if other users can
  /// write there, or store.yaml is wrong; kUnsupported if a newer Cupel wrote it; kConflict if the
  /// server's schema is another folder's.
  static Result<std::unique_ptr<Store>> open(const std::filesystem::path& folder);
  ~Store() override;

  /// Writes the run, running or submitted, and locks its nodes, or neither. Errors: kConflict,
  /// naming each node that another run holds, and what to do; kStorage.
  Result<RunId> begin_run(const Run& run);

  /// Errors: kStorage.
  Result<void> keep_options(RunId run, const std::string& options);
  /// Hands a run that stopped to whichever controller lives. One that is over stays over.
  /// Errors: kStorage.
  Result<void> submit_again(RunId run);
  /// Runs that wait for a controller, oldest first. Errors: kStorage.
  Result<std::vector<RunId>> submitted(std::size_t most) const;

  /// Newest first. Errors: kStorage.
  Result<std::vector<Run>> runs(std::size_t most) const;
  /// Errors: kNotFound; kStorage.
  Result<Run> run(RunId id) const;

  /// Appends to the hash chain of the run, all or none, with one fsync. Also moves the run's phase
  /// and releases its nodes where an event says so. Errors: kStorage.
  Result<void> append(RunId run, std::span<Event> events);
  Result<void> append(RunId run, Event& event) { return append(run, std::span{&event, 1}); }

  /// In order; where `node` is not empty, its own and those of the run as a whole (an approval is
  /// every node's). As they stand, for people to read: not held against the chain. Errors:
  /// kStorage; an event of a kind that only a newer Cupel knows.
  Result<std::vector<Event>> events(RunId run, std::string_view node = {}) const;

  /// Each event of the run in order, as the table has it, once its chain was found whole.
  /// Errors: kStorage, naming the event at which the chain breaks. In journal_file.cpp.
  Result<void> each_event(RunId run, const std::function<void(const EventRow&)>& visit) const;

  /// Newest runs in which the node took part; older than `before`, where that is not 0. Errors:
  /// kStorage.
  Result<std::vector<RunId>> runs_of(std::string_view node, std::size_t most,
                                     RunId before = 0) const;

  /// What people ask of a run while its controller works, in the order in which they asked; the
  /// controller takes them, and the event that it writes names the command. In commands.cpp.
  /// Errors: kNotFound: there is no such run; kInvalid: a text is too long; kStorage.
  Result<std::int64_t> ask(const engine::Command& command);
  Result<std::vector<engine::Command>> commands(RunId run, std::int64_t after) const;

  /// The run's state up to an event, so that a resume replays only what came behind it. Kept are
  /// the newest two. In snapshots.cpp. Errors: kStorage, also if there is no such event.
  Result<void> keep_snapshot(RunId run, std::int64_t sequence, std::string_view state);
  struct Snapshot {
    std::int64_t sequence = 0;
    std::string state{};
  };
  /// The newest whose own hash and whose event's hash are right; nothing if there is none.
  /// Errors: kStorage.
  Result<std::optional<Snapshot>> snapshot(RunId run) const;
  /// Events behind `sequence`, in order, each held against the chain: what a resume builds on.
  /// Errors: kStorage, naming the event at which the chain breaks.
  Result<std::vector<Event>> events_after(RunId run, std::int64_t sequence) const;

  /// Where the chain of the run's events is broken; nothing if it is whole. Errors: kStorage.
  Result<std::optional<std::int64_t>> broken_at(RunId run) const;

  /// Keeps raw output; the same bytes once. Returns their SHA-256. Errors: kStorage.
  Result<std::string> keep_evidence(std::string_view bytes);
  /// Errors: kNotFound; kMalformed if the file no longer has its hash.
  Result<std::string> evidence(std::string_view hash) const;

  std::optional<std::string> pinned(std::string_view name) override;
  void pin(std::string_view name, std::string_view fingerprint) override;
  /// Replaces or forgets (empty fingerprint) a pin, on a person's word. Errors: kStorage.
  Result<void> repin(std::string_view name, std::string_view fingerprint);

  // What is known of BMCs. What cannot be read is not known, what cannot be written is forgotten:
  // see bmc/memory.h. In bmc_memory.cpp.
  std::optional<bmc::Refusal> refusal(const std::string& node, const std::string& user) override;
  void keep_refusal(const std::string& node, const std::string& user,
                    const std::optional<bmc::Refusal>& refusal) override;
  std::optional<bmc::KnownBmc> known_bmc(const std::string& node) override;
  void keep_known_bmc(const std::string& node, const bmc::KnownBmc& known) override;
  std::optional<bmc::Budget> budget(const std::string& node) override;
  void keep_budgets(const std::vector<std::pair<std::string, bmc::Budget>>& budgets) override;
  /// Who the node's BMC was, and what it refused, on a person's word that it is right as it is.
  /// Errors: kStorage.
  Result<void> forget_bmc(const std::string& node);

  const std::filesystem::path& folder() const { return folder_; }

  /// What events, runs and commands are dated by: the machine's clock, or this one, which must
  /// outlive the store. Order is by sequence, whatever the clock says.
  void tell_time_by(const engine::Clock& clock);

  /// SQLite's file may not grow over so many pages (max_page_count), or over what it has.
  void limit_pages(int pages);

 private:
  struct Database;
  Store(std::filesystem::path folder, std::unique_ptr<Database> database);

  std::filesystem::path folder_;
  std::unique_ptr<Database> database_;
};

/// The journal of one run, as the engine sees it: written at once, while all else waits.
class RunJournal : public engine::Journal {
 public:
  RunJournal(Store& store, RunId run) : store_{store}, run_{run} {}
  Task<Result<void>> append(std::span<Event> events) override {
    co_return store_.append(run_, events);
  }

 private:
  Store& store_;
  RunId run_;
};

}  // namespace cupel::store

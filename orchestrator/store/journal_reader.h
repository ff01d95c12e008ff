#pragma once
// The journal for those who only read it, piece by piece: pages of events as they stand, whoever
// writes them meanwhile. A read-only connection of its own; for one thread.
#include <memory>

#include "orchestrator/store/store.h"

namespace cupel::store {

/// An event as it stands; `data` is the JSON text that its hash is of, but for the boot tickets
/// that earlier versions wrote, which are cut.
struct EventText {
  RunId run = 0;
  std::int64_t sequence = 0;
  WallTime time{};
  std::string kind{};
  std::string node{};
  std::string step{};
  std::string data{};
  std::string hash{};
};

struct EventQuery {
  RunId run = 0;
  std::int64_t after = 0;  // behind this sequence
  std::string node{};      // empty: any; the same of the two below
  std::string step{};
  std::string kind{};
  std::size_t most = 100;
  std::size_t most_bytes = 8u << 20;  // of all data; at least one event comes
  std::int64_t newest_before = 0;     // the newest before this sequence first; 0: in their order
};

struct RunQuery {
  RunId before = 0;     // older than this one; 0: from the newest on
  std::string phase{};  // empty: any
  std::size_t most = 100;
};

/// A run, for a list of what a node took part in.
struct PastRun {
  RunId run = 0;
  std::string playbook{};
  RunPhase phase{};
  WallTime began{};
};

class JournalReader {
 public:
  /// Of the store in `folder`, which must be open. Errors: kStorage.
  static Result<JournalReader> open(const std::filesystem::path& folder);
  JournalReader(JournalReader&&) noexcept;
  ~JournalReader();

  /// In their order, or the newest first. Errors: kStorage.
  Result<std::vector<EventText>> page(const EventQuery& query) const;

  /// Newest first. Errors: kStorage.
  Result<std::vector<RunId>> runs(const RunQuery& query) const;

  /// 0 where there is none. Errors: kStorage.
  Result<RunId> newest_run() const;

  /// Runs that are neither ended nor cancelled, oldest first. Errors: kStorage.
  Result<std::vector<RunId>> open_runs() const;

  /// The newest run of each node, by node. Errors: kStorage.
  Result<std::vector<std::pair<std::string, RunId>>> newest_runs() const;

  /// That the node took part in, newest first. Errors: kStorage.
  Result<std::vector<PastRun>> past_of(const std::string& node, std::size_t most) const;

  /// Changes with each write to the store by any other connection. Errors: kStorage.
  Result<std::int64_t> version() const;

 private:
  struct Connection;
  explicit JournalReader(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace cupel::store

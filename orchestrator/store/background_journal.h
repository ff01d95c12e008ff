#pragma once
// Journals that are written on a thread of their own: while SQLite waits for the disk, the loop
// serves BMCs and nodes.
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <memory>

#include "orchestrator/store/store.h"

namespace cupel::store {

/// The thread, and a connection to the database that it alone uses.
class JournalThread {
 public:
  explicit JournalThread(std::filesystem::path folder) : folder_{std::move(folder)} {}
  JournalThread(const JournalThread&) = delete;
  JournalThread& operator=(const JournalThread&) = delete;
  /// Waits for what is being written.
  ~JournalThread();

 private:
  friend class BackgroundJournal;
  Task<Result<void>> write(RunId run, std::span<Event> events);

  std::filesystem::path folder_;
  std::unique_ptr<Store> store_{};  // opened at the first write
  asio::thread_pool thread_{1};
};

/// The journal of one run. `thread` must outlive it, and all that awaits it must outlive `thread`.
class BackgroundJournal : public engine::Journal {
 public:
  BackgroundJournal(JournalThread& thread, RunId run) : thread_{thread}, run_{run} {}
  Task<Result<void>> append(std::span<Event> events) override;

 private:
  JournalThread& thread_;
  RunId run_;
};

}  // namespace cupel::store

#pragma once
// Where the journals of runs end, asked for often and cheaply: whether anything was written since.
// Reads by a connection of its own.
#include <memory>

#include "orchestrator/store/store.h"

namespace cupel::store {

/// The newest event of a run; `sequence` is 0 where there is none.
struct JournalEnd {
  std::int64_t sequence = 0;
  std::string hash{};
};

class JournalEnds {
 public:
  /// Of the store in `folder`, which must be open. Errors: kStorage.
  static Result<JournalEnds> open(const std::filesystem::path& folder);
  JournalEnds(JournalEnds&&) noexcept;
  ~JournalEnds();

  /// Errors: kStorage.
  Result<JournalEnd> of(RunId run) const;

 private:
  struct Connection;
  explicit JournalEnds(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace cupel::store

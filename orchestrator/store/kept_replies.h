#pragma once
// The answers to requests that changed something, by the key that their client gave them: the same
// request again has the same answer, and is not done twice. Kept for a day. For one thread.
#include <memory>

#include "orchestrator/store/store.h"

namespace cupel::store {

struct KeptReply {
  std::string who{};      // whose key it is
  std::string key{};      // Idempotency-Key
  std::string request{};  // SHA-256 of method, path and body
  int status = 0;         // 0: it is being done
  std::string location{};
  std::string body{};
  WallTime at{};
};

class KeptReplies {
 public:
  /// Of the store in `folder`, which must be open. Errors: kStorage.
  static Result<KeptReplies> open(const std::filesystem::path& folder);
  KeptReplies(KeptReplies&&) noexcept;
  ~KeptReplies();

  /// Takes the key for this request, or returns what is kept under it. Errors: kStorage.
  Result<std::optional<KeptReply>> claim(const KeptReply& asked);

  /// Errors: kStorage.
  Result<void> keep(const KeptReply& reply);

  /// The request was not done: the key is free again. Errors: kStorage.
  Result<void> drop(const KeptReply& reply);

  /// What was being done when an earlier process ended stays unknown. Returns how many.
  /// Errors: kStorage.
  Result<void> forget_unfinished();

  static constexpr std::chrono::hours kKept{24};
  static constexpr int kMost = 100'000;

 private:
  struct Connection;
  explicit KeptReplies(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace cupel::store

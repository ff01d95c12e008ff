#include "bmc/redfish/read_cache.h"

#include "base/text.h"
#include "bmc/redfish/document.h"

namespace cupel::bmc::redfish {

std::optional<Kept> MemoryCache::lookup(const std::string& uri) {
  const auto found = entries_.find(uri);
  if (found == entries_.end()) return std::nullopt;
  order_.splice(order_.begin(), order_, found->second.place);
  return found->second.kept;
}

void MemoryCache::keep(const std::string& uri, Kept what) {
  forget(uri);
  const auto size = uri.size() + what.etag.size() + what.body.size();
  if (size > limit_) return;
  while (bytes_ + size > limit_) forget(std::string{order_.back()});
  order_.push_front(uri);
  bytes_ += size;
  entries_.emplace(uri, Entry{std::move(what), order_.begin()});
}

void MemoryCache::forget(const std::string& uri) {
  const auto found = entries_.find(uri);
  if (found == entries_.end()) return;
  const auto& kept = found->second.kept;
  bytes_ -= uri.size() + kept.etag.size() + kept.body.size();
  order_.erase(found->second.place);
  entries_.erase(found);
}

Task<Result<json::value>> AuditFetch::get(std::string uri, Deadline deadline) {
  // The tag of an expanded collection is the collection's alone on many BMCs: its members may have
  // changed behind it.
  const bool keepable = cache_ != nullptr && uri.find('?') == std::string::npos;
  if (!keepable) co_return co_await get_now(std::move(uri), deadline);
  auto kept = cache_->lookup(uri);
  const std::string known = kept ? kept->etag : std::string{};
  CO_TRY(Answer answer, co_await ask(uri, known, deadline));
  bytes_ += answer.bytes;
  if (answer.status == 304) {
    ++unchanged_;
    co_return co_await read_document(kept->body, client_.bmc_limits().memory);
  }
  if (!answer.etag.empty()) cache_->keep(uri, {answer.etag, serialize(answer.body)});
  co_return std::move(answer.body);
}

Task<Result<json::value>> AuditFetch::get_now(std::string uri, Deadline deadline) {
  CO_TRY(Answer answer, co_await ask(std::move(uri), {}, deadline));
  bytes_ += answer.bytes;
  co_return std::move(answer.body);
}

Task<Result<Answer>> AuditFetch::ask(std::string uri, std::string etag, Deadline deadline) {
  // The root is open to everybody; the first answer behind it may renew one that was idle.
  constexpr int kProven = 2;
  const int lost = client_.lost_sessions();
  const bool was_proven = answers_ >= kProven;
  auto answer = co_await client_.get_unless(std::move(uri), std::move(etag), deadline);
  if (was_proven && client_.lost_sessions() > lost) lost_session_ = true;
  if (answer) ++answers_;
  co_return answer;
}

}  // namespace cupel::bmc::redfish

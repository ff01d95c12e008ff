#include "orchestrator/store/background_journal.h"

namespace cupel::store {

JournalThread::~JournalThread() { thread_.join(); }

/// On the thread. Errors: kStorage alone: whatever keeps the database shut, nothing can be written.
Task<Result<void>> JournalThread::write(RunId run, std::span<Event> events) {
  if (!store_) {
    auto opened = Store::open(folder_);
    if (!opened) co_return Error{Code::kStorage, opened.error().what};
    store_ = *std::move(opened);
  }
  co_return store_->append(run, events);
}

Task<Result<void>> BackgroundJournal::append(std::span<Event> events) {
  std::optional<Result<void>> written;
  auto work = detail::run_into(written, thread_.write(run_, events));
  // The caller goes on on its own loop.
  co_await asio::co_spawn(thread_.thread_, std::move(work), asio::use_awaitable);
  co_return std::move(*written);
}

}  // namespace cupel::store

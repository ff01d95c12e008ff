#include "orchestrator/api/notices.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <map>
#include <thread>

#include "base/json.h"
#include "base/log.h"
#include "base/side_by_side.h"
#include "base/text.h"
#include "orchestrator/api/listener.h"
#include "orchestrator/api/notice_look.h"
#include "orchestrator/api/notice_sender.h"
#include "orchestrator/api/otlp_run.h"
#include "orchestrator/api/otlp_sender.h"
#include "orchestrator/api/otlp_service.h"
#include "orchestrator/report/run_progress.h"

namespace cupel::api {
namespace {

using engine::WallTime;

constexpr std::chrono::minutes kLongestPause{1};  // clocks are set, and settings change
/// Between two looks: however many events a run writes, they are read together. What waits for
/// approval the controller says a second later.
constexpr std::chrono::milliseconds kPauseBetween{2000};
/// For all of one run's telemetry, while other hooks wait.
constexpr std::chrono::seconds kRunPatience{60};

std::string many(std::size_t notices) {
  return fmt::format("{} notice{}", notices, notices == 1 ? "" : "s");
}

}  // namespace

struct Notices::Impl {
  explicit Impl(Shared& of) : shared{of} {}
  ~Impl() {
    if (!thread.joinable()) return;
    asio::post(io, [this] { stop.emit(asio::cancellation_type::terminal); });
    thread.join();
  }

  Task<void> serve();
  Task<WallTime> turn(WallTime now);
  Task<void> send(const NoticeHook& hook, NoticeQueue& queue, NoticeMessage message, WallTime now);
  void send_metrics(const NoticeHook& hook, WallTime now, std::vector<Task<void>>& sending);
  Task<void> post_metrics(NoticeHook hook, std::vector<OtlpRequest> requests, WallTime now);
  Task<Delivery> send_run(NoticeHook hook, NoticeMessage message);
  Task<void> send_due(const std::vector<NoticeHook>& hooks, WallTime now);
  Result<void> look(const std::vector<NoticeHook>& hooks, WallTime now);
  void save();

  std::function<void(std::exception_ptr)> when_lost = [](std::exception_ptr bug) {
    log_bug("notices-stopped", std::move(bug));
  };
  Shared& shared;
  asio::io_context io{1};
  std::unique_ptr<RequestHandler> handler{};
  NoticeSender sender{io.get_executor()};
  std::optional<NoticeBook> book{};
  std::string saved{};  // as the file has it
  struct MetricsTurn {
    WallTime due{};
    std::string why{};  // the last failed; empty: it did not
  };
  std::map<std::string, MetricsTurn> metrics{};  // by the hook's name
  asio::steady_timer news{io, asio::steady_timer::time_point::max()};
  bool woken = true;
  std::atomic<bool> posted{false};
  asio::cancellation_signal stop{};
  std::thread thread{};
};

Result<void> Notices::Impl::look(const std::vector<NoticeHook>& hooks, WallTime now) {
  if (!book) {
    TRY(book, read_notice_book(shared.state));
    if (book) saved = to_text(*book);
  }
  if (!book) {
    TRY(book, begin_notices(*handler));
  }
  book->keep_only(hooks);
  return look_for_notices(*handler, hooks, *book, now);
}

/// What cannot be written now is written with the next change; a restart before that tells it
/// again.
void Notices::Impl::save() {
  auto text = to_text(*book);
  if (text == saved) return;
  const auto written = write_notice_book(shared.state, text);
  if (written)
    saved = std::move(text);
  else
    log::error({}, "notices-not-kept", printable(written.error().what));
}

Task<void> Notices::Impl::send(const NoticeHook& hook, NoticeQueue& queue, NoticeMessage message,
                               WallTime now) {
  const auto count = message.notices.size();
  auto sending = hook.takes_runs() ? send_run(hook, std::move(message))
                                   : sender.send(hook, std::move(message));
  const auto delivery = co_await std::move(sending);
  const bool stopped = co_await cancelled();
  auto& tally = book->tallies[hook.name];
  if (delivery.done) {
    queue.sent();
    tally.sent += count;
    tally.sent_at = now;
    shared.counters.notices_sent += count;
    log::info({}, "notice-sent", fmt::format("notices {}: {} sent", hook.name, many(count)));
    if (!delivery.why.empty())
      log::warning({}, "notice-rejected", fmt::format("notices {}: {}", hook.name, delivery.why));
    co_return;
  }
  if (stopped) co_return;
  tally.failed_at = now;
  tally.why = delivery.why;
  if (queue.failed(now, delivery.wait, delivery.lasting)) {
    tally.lost += count;
    shared.counters.notices_failed += count;
    log::error({}, "notice-given-up",
               fmt::format("notices {}: {} given up: {}; look at the entry in service.yaml, and at "
                           "what is at the other end",
                           hook.name, many(count), delivery.why));
  } else {
    log::warning({}, "notice-failed",
                 fmt::format("notices {}: {} not sent: {}; it is tried again", hook.name,
                             many(count), delivery.why));
  }
}

/// The run's telemetry, made anew of the journal for each try.
Task<Delivery> Notices::Impl::send_run(NoticeHook hook, NoticeMessage message) {
  const json::value notice = message.notices.front().body;
  const auto id = static_cast<engine::RunId>(number_at(notice, "run").value_or(0));
  const auto run = handler->store().run(id);
  if (!run)
    co_return Delivery{.lasting = run.error().code == Code::kNotFound,
                       .why = printable(run.error().what)};
  const auto requests = otlp_of_run(*run, handler->journal(), shared.version, message.dropped);
  if (!requests)
    co_return Delivery{.lasting = requests.error().code != Code::kStorage,
                       .why = printable(requests.error().what)};
  auto client = otlp_client(hook.url, hook.ca, hook.secret, "notices: " + hook.name);
  OtlpProgress progress;
  const auto sent = co_await send_otlp(client, *requests, progress, Deadline::in(kRunPatience));
  if (!sent)
    co_return Delivery{
        .lasting = sent.error().code == Code::kFailed || sent.error().code == Code::kMalformed,
        .wait = sent.error().retry_after,
        .why = printable(sent.error().what)};
  Delivery done{.done = true};
  if (progress.rejected > 0 || !progress.why.empty())
    done.why =
        fmt::format("of run {} the receiver rejected {}: {}", id, progress.rejected, progress.why);
  co_return done;
}

/// What cannot be delivered is lost: the next time has newer figures. Said once while it lasts.
Task<void> Notices::Impl::post_metrics(NoticeHook hook, std::vector<OtlpRequest> requests,
                                       WallTime now) {
  auto client = otlp_client(hook.url, hook.ca, hook.secret, "notices: " + hook.name);
  OtlpProgress progress;
  const auto sent =
      co_await send_otlp(client, requests, progress, Deadline::in(NoticeSender::kPatience));
  auto& turn = metrics[hook.name];
  const auto why = sent ? std::string{} : printable(sent.error().what);
  if (!sent) turn.due = std::max(turn.due, now + sent.error().retry_after);
  if (!sent && turn.why.empty())
    log::warning({}, "metrics-not-sent", fmt::format("notices {}: {}", hook.name, why));
  turn.why = why;
}

void Notices::Impl::send_metrics(const NoticeHook& hook, WallTime now,
                                 std::vector<Task<void>>& sending) {
  if (!hook.metrics) return;
  auto& turn = metrics[hook.name];
  // A clock that was set back does not hold them up.
  const bool is_due = turn.due <= now || turn.due > now + std::chrono::hours{2};
  if (!is_due) return;
  turn.due = now + *hook.metrics;
  const auto inventory = shared.inventory.get();
  auto requests = otlp_of_service(*handler, inventory ? inventory->site : "", now);
  if (requests)
    sending.push_back(post_metrics(hook, *std::move(requests), now));
  else
    log::warning({}, "metrics-not-sent", printable(requests.error().what));
}

Task<void> Notices::Impl::send_due(const std::vector<NoticeHook>& hooks, WallTime now) {
  const auto inventory = shared.inventory.get();
  std::vector<Task<void>> sending;
  for (const auto& hook : hooks) {
    send_metrics(hook, now, sending);
    auto& queue = book->queues[hook.name];
    const auto* batch = queue.take(hook, now);
    if (batch == nullptr) continue;
    NoticeMessage message{batch->id, inventory ? inventory->site : std::string{}, now,
                          batch->notices, batch->dropped};
    sending.push_back(send(hook, queue, std::move(message), now));
  }
  if (sending.empty()) co_return;
  save();  // with the ids that go out
  co_await side_by_side(std::move(sending));
}

Task<WallTime> Notices::Impl::turn(WallTime now) {
  const auto site = shared.site.get();
  const auto& hooks = site->settings.notices;
  if (hooks.empty()) {
    book.reset();
    remove_notice_book(shared.state);
    co_return now + kLongestPause;
  }
  const auto looked = look(hooks, now);
  if (!looked) log::error({}, "notices-stopped", printable(looked.error().what));
  if (!book) co_return now + kLongestPause;
  save();
  co_await send_due(hooks, now);
  save();
  WallTime next = now + kLongestPause;
  for (const auto& hook : hooks)
    next = std::min({next, book->queues[hook.name].due(hook, now).value_or(next),
                     hook.metrics ? metrics[hook.name].due : next});
  co_return next;
}

Task<void> Notices::Impl::serve() {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (;;) {
    const bool once_more = std::exchange(woken, false);
    const auto next = co_await turn(report::wall_now());
    const bool ends = co_await cancelled();
    if (ends) co_return;
    const auto paused = co_await pause_for(kPauseBetween);
    if (!paused) co_return;
    if (once_more || woken) continue;
    news.expires_after(std::max<std::chrono::milliseconds>(next - report::wall_now(),
                                                           std::chrono::milliseconds{1}));
    co_await news.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

Notices::Notices(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Notices::~Notices() = default;

Result<std::unique_ptr<Notices>> Notices::open(Shared& shared) {
  auto impl = std::make_unique<Impl>(shared);
  TRY(impl->handler, RequestHandler::open(shared));
  return std::unique_ptr<Notices>{new Notices{std::move(impl)}};
}

void Notices::on_lost(std::function<void(std::exception_ptr)> lost) {
  impl_->when_lost = std::move(lost);
}

void Notices::start() {
  asio::co_spawn(impl_->io, impl_->serve(),
                 asio::bind_cancellation_slot(impl_->stop.slot(), impl_->when_lost));
  impl_->thread = std::thread{[this] { impl_->io.run(); }};
}

void Notices::wake() {
  if (impl_->posted.exchange(true)) return;
  asio::post(impl_->io, [impl = impl_.get()] {
    impl->posted = false;
    impl->woken = true;
    impl->news.cancel();
  });
}

engine::WallTime Notices::turn(engine::WallTime now) {
  return run_to_end(impl_->io, impl_->turn(now));
}

}  // namespace cupel::api

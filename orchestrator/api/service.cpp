#include "orchestrator/api/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "base/log.h"
#include "base/text.h"
#include "orchestrator/api/browser_guard.h"
#include "orchestrator/api/endpoint.h"
#include "orchestrator/api/notices.h"
#include "orchestrator/api/oidc_keys.h"
#include "orchestrator/api/schedule_clock.h"
#include "orchestrator/api/service_front.h"
#include "orchestrator/api/site_files.h"
#include "orchestrator/controller/state_folder.h"
#include "orchestrator/report/run_progress.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostQueued = 512;  // requests that wait for a desk
constexpr std::size_t kMostQueuedHeavy = 64;
constexpr std::chrono::seconds kMostSilence{30};  // of the controller's loop

/// Counts one for as long as it lives, however that ends.
class Counted {
 public:
  explicit Counted(std::atomic<std::size_t>& count) : count_{count} { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  std::atomic<std::size_t>& count_;
};

/// What is answered to the same request again where the service ended over it. A run that it began
/// names it; what it would have done else was not done, or can be done twice without harm, but for
/// commands.
std::optional<store::KeptReply> reply_after_crash(const store::KeptReply& claim,
                                                  std::optional<store::RunId> begun) {
  auto reply = claim;
  if (begun) {
    reply.status = 201;
    reply.body = boost::json::serialize(boost::json::object{{"run", *begun}});
    reply.location = fmt::format("/api/v1/runs/{}", *begun);
    return reply;
  }
  if (!claim.body.ends_with("/commands")) return std::nullopt;
  const Problem problem{
      409, "conflict",
      "the service ended while it took this command, and it may be in the run's journal: see its "
      "events, and send it again with another Idempotency-Key where it is not"};
  reply.status = 409;
  reply.body = *answer_of(problem).body;
  return reply;
}

Answer busy(std::string detail) {
  return answer_of({503, "busy", std::move(detail), {}, std::chrono::seconds{2}});
}

/// A desk on a thread of its own.
struct Lane {
  explicit Lane(std::size_t most_queued) : most{most_queued} {}

  /// `work(desk)` on the lane's thread; the answer on the caller's.
  template <class T, class Work>
  Task<T> run(Work work) {
    auto on_lane = [](Lane& lane, Work does) -> Task<T> {
      // To end with the lane's thread, not with the caller's.
      co_return does(*lane.handler);
    }(*this, std::move(work));
    const Counted counted{queued};
    auto result =
        co_await asio::co_spawn(pool->get_executor(), std::move(on_lane), asio::use_awaitable);
    co_return result;
  }
  bool is_full() const { return queued >= most; }

  std::unique_ptr<RequestHandler> handler{};
  std::size_t most;
  std::atomic<std::size_t> queued{0};
  std::optional<asio::thread_pool> pool{std::in_place, 1u};
};

/// Keys that were fetched from the same address, until the next ones are there.
void take_keys(const Site& before, const Site& now) {
  const bool has_both = before.settings.oidc && now.settings.oidc;
  if (!has_both || !is_key_address(now.settings.oidc->keys)) return;
  if (before.settings.oidc->keys == now.settings.oidc->keys)
    now.oidc_keys->put(before.oidc_keys->get());
}

}  // namespace

struct Service::Impl {
  explicit Impl(ServiceOptions asked)
      : options{std::move(asked)},
        page{options.page, options.page_policy},
        listener{options.limits, [this](Request request) { return answer(std::move(request)); }},
        bell{listener.io()},
        front{bell, shared.waiting, [this] { reload_and_log(); }} {}
  ~Impl() {
    listener.stop();
    notices.reset();
    // Before the listener's loop: what waits for a lane is the loop's.
    for (auto* lane : {&light, &heavy, &streams}) lane->pool.reset();
  }

  Result<void> open();
  Result<void> open_sockets();
  SiteFilesRequest site_files_request() const;
  void use(const SiteFiles& files);
  Result<void> reload();
  void reload_and_log();
  Task<Answer> answer(Request request);
  Task<void> keep_schedules();
  Task<void> keep_keys();
  Task<void> wake_notices();

  ServiceOptions options;
  StaticFiles page;
  Shared shared{.logins = LoginLimits{options.login_clock}};
  std::vector<std::string> addresses{};
  std::string fingerprint{};
  // All streams wake at each event: a lane of their own, so that no request waits behind them.
  Lane light{kMostQueued}, heavy{kMostQueuedHeavy}, streams{kMostQueued};
  FeedSlots slots{options.streams, options.streams_of_one};
  FeedSlots heavy_shares{kMostQueuedHeavy, options.heavy_of_one};
  std::unique_ptr<Notices> notices{};
  Listener listener;
  Bell bell;
  ServiceFront front;
};

SiteFilesRequest Service::Impl::site_files_request() const {
  auto listen = options.listen;
  // A passed socket may be one of TCP.
  if (!options.passed.empty()) listen.emplace_back("127.0.0.1:0");
  return {options.state, options.settings, options.inventory, std::move(listen)};
}

void Service::Impl::use(const SiteFiles& files) {
  if (const auto before = shared.site.get()) take_keys(*before, *files.site);
  log::use(files.site->settings.json_log ? log::Form::json : log::Form::text);
  shared.rate.limit(files.site->settings.requests_per_second);
  shared.inventory.put(files.inventory);
  shared.site.put(files.site);
  fingerprint = files.fingerprint;
}

Result<void> Service::Impl::open() {
  TRY(const auto files, read_site_files(site_files_request()));
  shared.state = options.state;
  shared.programs = options.programs;
  shared.version = options.version;
  shared.started = report::wall_now();
  if (files.inventory) {
    shared.rehearsal = controller::is_of_virtual_rack(files.inventory->file);
    TRY(auto store, controller::open_store_for({options.state, true}, *files.inventory));
    store.reset();
  }
  if (!files.tls.certificate.empty()) {
    TRY(listener.use(files.tls));
  }
  use(files);
  for (auto* lane : {&light, &heavy, &streams}) {
    TRY(lane->handler, RequestHandler::open(shared));
  }
  TRY(notices, Notices::open(shared));
  TRY(auto replies, store::KeptReplies::open(options.state));
  TRY(replies.settle_unfinished(reply_after_crash));
  const OnDesk on_desk = [this](std::function<Result<std::string>(RequestHandler&)> work) {
    return streams.run<Result<std::string>>(std::move(work));
  };
  shared.feed = [this, on_desk](StreamPlace place,
                                const Identity& identity) -> std::shared_ptr<Feed> {
    auto slot = slots.take(identity.name);
    if (!slot) return nullptr;
    return make_feed(bell, on_desk, std::move(place), identity, std::move(slot),
                     {options.heartbeat});
  };
  shared.connections = [this] { return listener.connections(); };
  shared.streams = [this] { return slots.open(); };
  return open_sockets();
}

Result<void> Service::Impl::open_sockets() {
  for (const int descriptor : options.passed) {
    TRY(auto address, listener.adopt(descriptor));
    addresses.push_back(std::move(address));
  }
  auto listen = options.listen;
  const auto site = shared.site.get();
  // A TCP socket of systemd stands for the addresses of the settings; its Unix socket for none.
  const bool has_tcp = std::ranges::any_of(
      addresses, [](const std::string& address) { return address.starts_with("https://"); });
  if (!has_tcp)
    listen.insert(listen.end(), site->settings.listen.begin(), site->settings.listen.end());
  for (const auto& each : listen) {
    TRY(auto address, listener.listen_tls(each));
    addresses.push_back(std::move(address));
  }
  const bool has_socket = std::ranges::any_of(
      addresses, [](const std::string& address) { return address.starts_with('/'); });
  if (options.socket.empty() || has_socket) return ok();
  TRY(listener.listen_unix(options.socket));
  addresses.push_back(options.socket.string());
  return ok();
}

Result<void> Service::Impl::reload() {
  TRY(const auto files, read_site_files(site_files_request()));
  if (!files.tls.certificate.empty()) {
    TRY(listener.use(files.tls));
  }
  const bool elsewhere = files.site->settings.listen != shared.site.get()->settings.listen;
  if (elsewhere)
    log::warning({}, "listen-not-changed",
                 "listen: has changed in the settings; the service listens at the same addresses "
                 "until it is restarted");
  use(files);
  return ok();
}

void Service::Impl::reload_and_log() {
  if (options.reloading) options.reloading();
  const auto reloaded = reload();
  if (options.reloaded) options.reloaded();
  if (reloaded)
    log::info({}, "service-reloaded", "settings, inventory and certificates were read again");
  else
    log::error({}, "service-not-reloaded",
               "all stays as it was: " + printable(reloaded.error().what));
}

Task<Answer> Service::Impl::answer(Request request) {
  const auto site = shared.site.get();
  if (const auto problem = foreign(request, site->names)) co_return answer_of(*problem);
  if (auto file = page.answer(request)) co_return *std::move(file);
  const auto route = route_of(request.method, request.path);
  if (route.operation == nullptr) {
    if (!route.allow.empty())
      co_return answer_of(
          {405,
           "method",
           fmt::format("{} takes {}", printable(shortened(request.path, 200)), route.allow),
           {},
           {},
           route.allow});
    co_return answer_of(not_found(fmt::format("there is nothing at {}: see /api/openapi.json",
                                              printable(shortened(request.path, 200)))));
  }
  const bool takes_long = route.operation->lane == Operation::Lane::heavy;
  if (light.is_full() || (takes_long && heavy.is_full()))
    co_return busy("too many requests wait already");
  std::unique_ptr<FeedSlots::Slot> share;
  if (takes_long) {
    auto asks = [&](RequestHandler& handler) {
      return handler.authenticator().name_of(request, *site);
    };
    const auto name = co_await light.run<std::string>(std::move(asks));
    if (!name.empty()) share = heavy_shares.take(name);
    if (!name.empty() && !share)
      co_return busy("too many requests of one person that take long wait already");
  }
  auto work = [&](RequestHandler& handler) {
    return handler.answer(*route.operation, route, request);
  };
  // A request of no one is refused soon, and takes no place in the line of those that take long.
  auto& lane = share ? heavy : light;
  co_return co_await lane.run<Answer>(std::move(work));
}

Task<void> Service::Impl::keep_schedules() {
  asio::steady_timer timer{listener.io()};
  for (;;) {
    auto work = [](RequestHandler& handler) {
      start_due(handler, report::wall_now());
      return true;
    };
    if (!shared.site.get()->settings.schedules.empty()) co_await heavy.run<bool>(std::move(work));
    timer.expires_after(until_next(shared.site.get()->settings, report::wall_now()));
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

/// Those of an address: at the start, after each reload, and now and then.
Task<void> Service::Impl::keep_keys() {
  constexpr std::chrono::seconds kLook{5};
  using Clock = std::chrono::steady_clock;
  asio::steady_timer timer{listener.io()};
  std::shared_ptr<Replaced<WebKeys>> filled;
  Clock::time_point due{};
  bool failed = false;
  for (;;) {
    const auto site = shared.site.get();
    const auto& oidc = site->settings.oidc;
    const bool is_due =
        oidc && is_key_address(oidc->keys) && (site->oidc_keys != filled || Clock::now() >= due);
    if (is_due) {
      filled = site->oidc_keys;
      auto keys = co_await fetch_oidc_keys(*oidc);
      due = Clock::now() + (keys ? kKeysFetched : kKeysTriedAgain);
      if (!keys)
        log::warning({}, "oidc-keys-not-fetched", printable(keys.error().what));
      else if (failed)
        log::info({}, "oidc-keys-fetched", "again");
      failed = !keys;
      if (keys) filled->put(std::make_shared<const WebKeys>(*std::move(keys)));
    }
    timer.expires_after(kLook);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

Task<void> Service::Impl::wake_notices() {
  constexpr std::chrono::hours kSeldom{1};
  for (;;) {
    const auto heard = bell.rung();
    notices->wake();
    co_await bell.wait(heard, kSeldom);
  }
}

Service::Service(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::open(ServiceOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  TRY(impl->open());
  return std::unique_ptr<Service>{new Service{std::move(impl)}};
}

void Service::start() {
  const auto lost = [this](std::string_view event) {
    return [front = &impl_->front, event](std::exception_ptr bug) { front->lose(event, bug); };
  };
  impl_->listener.on_lost(lost("listener-stopped"));
  impl_->notices->on_lost(lost("notices-stopped"));
  impl_->notices->start();
  asio::co_spawn(impl_->listener.io(), impl_->keep_schedules(), lost("schedules-stopped"));
  asio::co_spawn(impl_->listener.io(), impl_->keep_keys(), lost("oidc-keys-stopped"));
  asio::co_spawn(impl_->listener.io(), impl_->wake_notices(), lost("notices-stopped"));
  impl_->listener.start();
}
const std::vector<std::string>& Service::addresses() const { return impl_->addresses; }
std::size_t Service::connections() const { return impl_->listener.connections(); }
const std::string& Service::fingerprint() const { return impl_->fingerprint; }
Result<void> Service::reload() { return impl_->reload(); }
controller::Front& Service::front() { return impl_->front; }

bool Service::is_alive() {
  return std::chrono::steady_clock::now() - impl_->front.beat() < kMostSilence &&
         !impl_->light.is_full();
}

}  // namespace cupel::api

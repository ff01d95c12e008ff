// serve: the controller of a state folder with the API and the page in front of it, as a service.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/api/endpoint.h"
#include "orchestrator/api/systemd_notice.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/page_files.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/terminal_front.h"
#include "orchestrator/controller/controller.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/server.h"

namespace cupel::cli {
namespace {

struct ServeOptions {
  std::string settings{};
  std::string inventory{};
  std::string socket{};
  std::vector<std::string> listen{};
  std::string store{};
  bool no_socket = false;
};

/// Reports to systemd that the service lives, for as long as it does.
class WatchdogReports {
 public:
  WatchdogReports(const api::SystemdNotice& notice, api::Service& service) {
    const auto period = notice.watchdog();
    if (!period) return;
    thread_ = std::jthread{[this, &notice, &service, period](const std::stop_token& stop) {
      std::unique_lock lock{mutex_};
      while (!stop.stop_requested()) {
        if (service.is_alive()) notice.send("WATCHDOG=1");
        wake_.wait_for(lock, stop, *period / 2, [] { return false; });
      }
    }};
  }

 private:
  std::mutex mutex_{};
  std::condition_variable_any wake_{};
  std::jthread thread_{};
};

api::ServiceOptions options_of(const Context& context, const ServeOptions& request) {
  api::ServiceOptions options;
  options.state = absolute_path(context.state);
  options.programs = context.programs;
  options.version = CUPEL_VERSION;
  options.settings = request.settings;
  options.inventory =
      request.inventory.empty() ? std::string{} : absolute_path(request.inventory).string();
  options.listen = request.listen;
  options.passed = api::passed_descriptors();
  if (!request.no_socket)
    options.socket =
        request.socket.empty() ? options.state / "cupel.sock" : absolute_path(request.socket);
  options.page = page_files();
  options.page_policy = page_policy();
  return options;
}

void say_where(const Context& context, const api::Service& service) {
  if (context.json) {
    const auto& addresses = service.addresses();
    boost::json::object object{{"serving", boost::json::array(addresses.begin(), addresses.end())},
                               {"pid", ::getpid()}};
    if (!service.fingerprint().empty()) object["certificate"] = service.fingerprint();
    std::printf("%s\n", boost::json::serialize(object).c_str());
  } else {
    std::string where;
    for (const auto& each : service.addresses()) where += (where.empty() ? "" : " and ") + each;
    say("serving {}\n", where);
    if (!service.fingerprint().empty()) say("its own certificate: {}\n", service.fingerprint());
    if (page_files().empty()) say("built without the page: the API alone\n");
  }
  std::fflush(stdout);
}

/// Where a new store is to be. It is written down in the folder, so that each command finds it.
Result<void> name_store(const Context& context, const ServeOptions& options) {
  if (options.store.empty()) return ok();
  TRY(const auto server, store::parse_server_url(options.store, working_folder()));
  return store::name_server(absolute_path(context.state), server);
}

Exit serve(Context& context, const ServeOptions& request) {
  const api::SystemdNotice notice;
  const auto logs = start_log(context, "stderr");
  if (!logs) return print_error(context, logs.error(), Exit::invalid);
  if (const auto named = name_store(context, request); !named)
    return print_error(context, named.error(), Exit::invalid);
  auto opened = store::Store::open(context.state);
  if (!opened) return print_error(context, opened.error(), Exit::unfinished);
  const auto lock = store::ControllerLock::take(context.state);
  if (!lock) {
    const bool taken = lock.error().code == Code::kConflict;
    return print_error(context, lock.error(), taken ? Exit::invalid : Exit::unfinished);
  }
  auto options = options_of(context, request);
  options.reloading = [&notice] { notice.send_reloading(); };
  options.reloaded = [&notice] { notice.send("READY=1"); };
  auto service = api::Service::open(std::move(options));
  if (!service) {
    const bool storage = service.error().code == Code::kStorage;
    return print_error(context, service.error(), storage ? Exit::unfinished : Exit::invalid);
  }
  auto settings = controller_settings(context);
  settings.stays = true;
  controller::Controller drives{(*service)->front(), **opened, std::move(settings)};
  (*service)->front().tick();
  (*service)->start();
  say_where(context, **service);
  notice.send("READY=1");
  Result<void> ran;
  {
    const WatchdogReports reports{notice, **service};
    ran = drives.work();
  }
  notice.send("STOPPING=1");
  // Stopped as it was asked to: runs were interrupted, and can be resumed.
  if (ran || ran.error().code == Code::kCancelled) return Exit::passed;
  return print_error(context, ran.error(), Exit::unfinished);
}

}  // namespace

CommandRow serve_command(Context& context) {
  auto options = std::make_shared<ServeOptions>();
  CommandRow row{"serve", "drive runs as a service, with an HTTP API and a page for browsers"};
  row.footer =
      "Examples: cupel serve --inventory site.yaml\n"
      "          cupel serve --config /etc/cupel/service.yaml --listen 10.0.0.5:8443\n"
      "SIGTERM stops it: runs are interrupted and stages on nodes go on. SIGHUP reads the\n"
      "configuration, the inventory and certificates again. See docs/do/service.md.";
  row.options = {
      {"--config", &options->settings, "service.yaml: users, certificates, addresses [none]"},
      {"-i,--inventory", &options->inventory, "[inventory: of the configuration]"},
      {"--listen",
       &options->listen,
       "ADDRESS:PORT for TLS, beside those of the configuration; repeatable",
       {.repeatable = true}},
      {"--socket", &options->socket, "Unix socket, mode 0600 [cupel.sock in the state folder]"},
      {"--no-socket", &options->no_socket, "serve no Unix socket"},
      {"--store",
       &options->store,
       "postgresql://...: the server for a new store, written to store.yaml in the state folder "
       "[cupel.db there]",
       {.placeholder = "URL"}},
      json_flag(context)};
  row.run = [&context, options] { return serve(context, *options); };
  return row;
}

}  // namespace cupel::cli

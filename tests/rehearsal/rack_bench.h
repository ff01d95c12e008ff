#pragma once
// A whole rack with real sockets, and the real clients of this machine.
#include <curl/curl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/process.h"
#include "inventory/load.h"
#include "rehearsal/virtual_rack.h"
#include "tests/rehearsal/bench.h"
#include "tests/support/captures.h"

namespace cupel::rehearsal {

/// What stands where, without an address twice in one test process's racks.
inline RackSpec two_nodes(std::vector<Fault> faults = {}) {
  RackSpec spec{.name = "v01", .profile = "dgx-h100"};
  for (int i = 1; i <= 2; ++i)
    spec.nodes.push_back({.name = "v01-n0" + std::to_string(i),
                          .bmc_address = "127.64.1." + std::to_string(i),
                          .ssh_address = "127.64.2." + std::to_string(i)});
  spec.nodes[0].faults = std::move(faults);
  return spec;
}

/// The same, each on two PDUs that switch its outlets.
inline RackSpec two_nodes_on_two_feeds() {
  auto spec = two_nodes();
  spec.feeds = 2;
  spec.profiles.emplace("dgx-h100", dgx());
  return spec;
}

class RackBench {
 public:
  explicit RackBench(std::vector<Fault> faults = {}, double speed = 1000)
      : RackBench{two_nodes(std::move(faults)), speed} {}
  RackBench(const RackSpec& spec, double speed) { start(spec, speed); }

  void start(RackSpec spec, double speed) {
    spec.profiles.try_emplace("dgx-h100", dgx());
    auto started = VirtualRack::start(spec, {.speed = speed, .folder = folder.path()});
    if (!started) {
      ADD_FAILURE() << started.error().what;
      return;
    }
    rack = *std::move(started);
    auto loaded =
        inventory::parse_inventory(rack->inventory_yaml(), "inventory.yaml", folder.path());
    EXPECT_TRUE(loaded.inventory) << to_string(loaded.problems) << rack->inventory_yaml();
    if (loaded.inventory) inventory = std::move(*loaded.inventory);
  }

  /// What `ask` returns, asked on the rack's loop.
  template <class Ask>
  auto on(const std::string& node, Ask ask) {
    std::promise<decltype(ask(std::declval<Machine&>()))> reported;
    EXPECT_TRUE(rack->post(node, [&](Machine& machine) { reported.set_value(ask(machine)); }));
    return reported.get_future().get();
  }

  /// Waits for the event itself. Patience is for a broken test only.
  bool boot(const std::string& node) {
    auto booted = std::make_shared<std::promise<void>>();
    auto reported = booted->get_future();
    rack->post(node, [booted](Machine& machine) {
      machine.subscribe([booted, done = false](Machine::Event event) mutable {
        if (event == Machine::Event::booted && !std::exchange(done, true)) booted->set_value();
      });
      machine.press(machine.up() ? Reset::power_cycle : Reset::on);
    });
    return reported.wait_for(std::chrono::minutes{1}) == std::future_status::ready;
  }

  const inventory::Node& node(std::size_t index) const { return inventory.nodes.at(index); }

  std::vector<std::string> ssh_line(std::size_t index, const std::string& command) const {
    const auto& endpoint = node(index).ssh.endpoint;
    return {"ssh",
            "-F",
            "none",
            "-o",
            "BatchMode=yes",
            "-o",
            "IdentitiesOnly=yes",
            "-o",
            "StrictHostKeyChecking=accept-new",
            "-o",
            "LogLevel=ERROR",
            "-o",
            "ConnectTimeout=10",
            "-o",
            "UserKnownHostsFile=" + (folder.path() / "known_hosts").string(),
            "-i",
            node(index).ssh.key_file,
            "-p",
            std::to_string(endpoint.port),
            "root@" + endpoint.host,
            command};
  }

  ProcessOutcome run(std::vector<std::string> line, std::string input = {}) {
    asio::io_context io{1};
    ProcessRequest request{.argv = std::move(line), .input = std::move(input)};
    request.output_limit = 64u << 20;
    auto ran =
        run_to_end(io, run_process(std::move(request), Deadline::in(std::chrono::minutes{1})));
    if (!ran) return {.exit_status = -1, .output = {}, .error = ran.error().what};
    return *std::move(ran);
  }

  ProcessOutcome ssh(std::size_t index, const std::string& command, std::string input = {}) {
    return run(ssh_line(index, command), std::move(input));
  }

  test::TemporaryFolder folder;
  std::unique_ptr<VirtualRack> rack;
  inventory::Inventory inventory;
};

struct Fetched {
  CURLcode failure = CURLE_OK;
  long status = 0;
  std::string body{};
  std::map<std::string, std::string> headers{};  // names in lower case
  long new_connections = 0;
};

/// libcurl as an administrator's `curl -k` would be: it knows nothing of Redfish.
class Browser {
 public:
  explicit Browser(inventory::Endpoint endpoint)
      : base_{"https://" + endpoint.host + ":" + std::to_string(endpoint.port)} {}
  ~Browser() { curl_easy_cleanup(curl_); }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  Fetched ask(const std::string& method, const std::string& path, const std::string& body = {},
              const std::vector<std::string>& headers = {}) {
    Fetched fetched;
    curl_easy_reset(curl_);
    const auto url = base_ + path;
    curl_easy_setopt(curl_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl_, CURLOPT_CUSTOMREQUEST, method.c_str());
    if (!body.empty()) {
      curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
      curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, body.data());
    }
    curl_easy_setopt(curl_, CURLOPT_SSL_VERIFYPEER, ca.empty() ? 0L : 1L);
    curl_easy_setopt(curl_, CURLOPT_SSL_VERIFYHOST, ca.empty() ? 0L : 2L);
    curl_easy_setopt(curl_, CURLOPT_TIMEOUT_MS, patience_ms);
    curl_easy_setopt(curl_, CURLOPT_CERTINFO, 1L);
    if (!ca.empty()) curl_easy_setopt(curl_, CURLOPT_CAINFO, ca.c_str());
    curl_slist* list = curl_slist_append(nullptr, "Expect:");
    for (const auto& header : headers) list = curl_slist_append(list, header.c_str());
    if (!token.empty()) list = curl_slist_append(list, ("X-Auth-Token: " + token).c_str());
    curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, &take_body);
    curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &fetched);
    curl_easy_setopt(curl_, CURLOPT_HEADERFUNCTION, &take_header);
    curl_easy_setopt(curl_, CURLOPT_HEADERDATA, &fetched);
    fetched.failure = curl_easy_perform(curl_);
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &fetched.status);
    curl_easy_getinfo(curl_, CURLINFO_NUM_CONNECTS, &fetched.new_connections);
    curl_slist_free_all(list);
    return fetched;
  }

  Fetched log_in(const inventory::Node& node) { return log_in(node.bmc.user, node.bmc.password); }
  Fetched log_in(const std::string& user, const inventory::SecretRef& secret) {
    const auto password = read_file(secret.where, 1024);
    const auto body = json::serialize(
        json::object{{"UserName", user}, {"Password", std::string{trimmed(*password)}}});
    auto fetched = ask("POST", "/redfish/v1/SessionService/Sessions", body);
    token = fetched.headers["x-auth-token"];
    return fetched;
  }

  std::string token{};
  long patience_ms = 60'000;
  std::string ca{};  // a file: verified against it, names and all

 private:
  static std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* user) {
    static_cast<Fetched*>(user)->body.append(bytes, size * count);
    return size * count;
  }
  static std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* user) {
    const std::string_view line{bytes, size * count};
    const auto colon = line.find(':');
    if (colon != line.npos)
      static_cast<Fetched*>(user)->headers[lower_case(line.substr(0, colon))] =
          trimmed(line.substr(colon + 1));
    return size * count;
  }

  std::string base_;
  CURL* curl_ = curl_easy_init();
};

}  // namespace cupel::rehearsal

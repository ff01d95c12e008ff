// The built cupel as a service: a rehearsed run through its API, signals, what systemd wants to
// see.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/buffers_iterator.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include "base/file.h"
#include "orchestrator/api/endpoint.h"
#include "orchestrator/store/store.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

constexpr const char* kWaiting = R"(playbook: waiting
steps:
  - step: bmc-facts
  - step: approval
    with: {message: look at the sensors first}
  - step: power-on
)";

/// A node whose BMC lacks a part waits for repair; where it is the canary the run is halted.
constexpr const char* kParts = R"(playbook: parts
parameters: {first: {default: "100", type: integer, description: nodes that go first}}
canary: ["${first}"]
steps:
  - step: power-on
  - step: bmc-facts
  - step: audit
  - step: verdict
)";

struct ServeReply {
  int status = 0;
  json::value body{};
};

class ServeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(site.file("books"));
    site.write("books/waiting.yaml", kWaiting);
    site.write("books/parts.yaml", kParts);
    site.write("service.yaml", "playbooks: books\n");
  }
  std::vector<std::string> serving(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"serve",
                                   "--config",
                                   site.file("service.yaml"),
                                   "--inventory",
                                   site.file("inventory.yaml"),
                                   "--socket",
                                   site.file("s")};
    words.insert(words.end(), more.begin(), more.end());
    return site.cupel(words);
  }
  ServeReply ask(const std::string& method, const std::string& target,
                 const std::string& body = {}) {
    asio::io_context io;
    asio::local::stream_protocol::socket socket{io};
    socket.connect({site.file("s")});
    auto text = method + " " + target + " HTTP/1.1\r\nHost: cupel\r\nConnection: close\r\n";
    if (method == "POST") text += "Idempotency-Key: k" + std::to_string(++sent_) + "\r\n";
    if (!body.empty())
      text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n";
    asio::write(socket, asio::buffer(text + "\r\n" + body));
    asio::streambuf read;
    boost::system::error_code ended;
    asio::read(socket, read, ended);
    const std::string all{asio::buffers_begin(read.data()), asio::buffers_end(read.data())};
    ServeReply reported;
    if (all.size() > 12) reported.status = std::atoi(all.c_str() + 9);
    const auto begin = all.find("\r\n\r\n");
    if (begin != all.npos)
      reported.body = parse_json(std::string_view{all}.substr(begin + 4)).value_or(nullptr);
    return reported;
  }
  /// Reads the stream of the run until the text was in it.
  std::string stream_until(const std::string& text) {
    asio::io_context io;
    asio::local::stream_protocol::socket socket{io};
    socket.connect({site.file("s")});
    asio::write(
        socket,
        asio::buffer(std::string{"GET /api/v1/runs/1/stream HTTP/1.1\r\nHost: cupel\r\n\r\n"}));
    std::string read;
    boost::system::error_code ended;
    while (read.find(text) == read.npos && !ended) {
      std::array<char, 4096> piece{};
      const auto size = socket.read_some(asio::buffer(piece), ended);
      read.append(piece.data(), size);
    }
    EXPECT_THAT(read, HasSubstr(text));
    return read;
  }
  ServeReply start() {
    return ask(
        "POST", "/api/v1/runs",
        R"({"playbook":"waiting","nodes":"v01-n01","consoles":false,"wait_for_repair_s":0})");
  }

  RackSite site{{.network = 93, .ports = "bmc: 0, ssh: 0"}};

 private:
  int sent_ = 0;
};

TEST_F(ServeTest, ARunBeginsWaitsIsApprovedAndEndsThroughTheApi) {
  Child service{serving()};
  ASSERT_TRUE(service.wait_for("serving "));

  const auto started = start();
  ASSERT_EQ(started.status, 201) << json::serialize(started.body);
  stream_until("\"kind\":\"step-ended\",\"node\":\"v01-n01\",\"step\":\"bmc-facts\"");
  const auto metrics =
      run({"curl", "-s", "--unix-socket", site.file("s"), "http://cupel/metrics"}).out;
  EXPECT_THAT(metrics, HasSubstr("cupel_power_planned_watts{level=\""));
  EXPECT_THAT(metrics, HasSubstr("cupel_power_limit_watts{level=\""));
  const auto approved = ask("POST", "/api/v1/runs/1/commands",
                            R"({"command":"approve","step":"approval","reason":"looked"})");
  ASSERT_EQ(approved.status, 202) << json::serialize(approved.body);
  const auto events = stream_until("event: run-ended");

  EXPECT_THAT(events, HasSubstr("\"why\":\"looked\""));
  EXPECT_THAT(events, HasSubstr("(unix user "));
  const auto run = ask("GET", "/api/v1/runs/1").body;
  EXPECT_EQ(run.at("state"), "ended");
  EXPECT_EQ(run.at("pass"), 1);
  EXPECT_EQ(ask("GET", "/api/v1/runs/1/commands/1").body.at("answer"), "accepted");
  const auto shown = ask("GET", "/api/v1/runs/1/nodes/v01-n01").body.as_object();
  const auto printed = json_lines(site.run({"show", "v01-n01", "--json"}).out).back();
  for (const auto* key : {"verdict", "steps", "bmc_parts", "stages"})
    EXPECT_EQ(shown.at(key), printed.at(key)) << key << ": as cupel show prints it";
  EXPECT_THAT(open_to_others(site.file("state")), ::testing::IsEmpty());
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().status, 0);
}

TEST_F(ServeTest, SigtermInterruptsARunAndTheNextServiceResumesIt) {
  {
    Child service{serving()};
    ASSERT_TRUE(service.wait_for("serving "));
    ASSERT_EQ(start().status, 201);
    stream_until("\"kind\":\"step-ended\",\"node\":\"v01-n01\",\"step\":\"bmc-facts\"");
    service.signal(SIGTERM);
    ASSERT_EQ(service.wait().status, 0);
  }
  Child service{serving()};
  ASSERT_TRUE(service.wait_for("serving "));

  const auto events = stream_until("event: run-resumed");
  EXPECT_THAT(events, HasSubstr("event: run-interrupted"));
  EXPECT_THAT(stream_until("service-restarted"), HasSubstr("\"by\":\"cupel\""));
  const auto approved = ask("POST", "/api/v1/runs/1/commands",
                            R"({"command":"approve","step":"approval","reason":"looked"})");
  ASSERT_EQ(approved.status, 202) << json::serialize(approved.body);
  stream_until("event: run-ended");
  EXPECT_EQ(ask("GET", "/api/v1/runs/1").body.at("pass"), 1);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().status, 0);
}

TEST_F(ServeTest, AServiceThatWasKilledResumesItsRunAtTheNextStart) {
  {
    Child service{serving()};
    ASSERT_TRUE(service.wait_for("serving "));
    ASSERT_EQ(start().status, 201);
    stream_until("\"kind\":\"step-ended\",\"node\":\"v01-n01\",\"step\":\"bmc-facts\"");
    service.signal(SIGKILL);
    service.wait();
  }
  Child service{serving()};
  ASSERT_TRUE(service.wait_for("serving "));

  stream_until("service-restarted");
  const auto approved = ask("POST", "/api/v1/runs/1/commands",
                            R"({"command":"approve","step":"approval","reason":"looked"})");
  ASSERT_EQ(approved.status, 202) << json::serialize(approved.body);
  stream_until("event: run-ended");
  EXPECT_EQ(ask("GET", "/api/v1/runs/1").body.at("pass"), 1);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().status, 0);
}

TEST_F(ServeTest, SighupReadsTheConfigurationAgainAllOrNothing) {
  Child service{serving({"--log", "stderr"})};
  ASSERT_TRUE(service.wait_for("serving "));
  const auto two_person = [&] { return ask("GET", "/api/v1/whoami").body.at("two_person"); };
  ASSERT_EQ(two_person(), json::array{});

  site.write("service.yaml", "playbooks: books\ntwo_person: [start]\n");
  service.signal(SIGHUP);
  ASSERT_TRUE(service.wait_for("service-reloaded"));
  EXPECT_EQ(two_person(), json::array{"start"});
  site.write("service.yaml", "playbooks: books\ntwo_person: [begin]\n");
  service.signal(SIGHUP);
  ASSERT_TRUE(service.wait_for("service-not-reloaded"));

  EXPECT_EQ(two_person(), json::array{"start"});
  EXPECT_EQ(start().status, 202) << "it waits for a second person";
}

TEST_F(ServeTest, AnInventoryWhosePathsCannotBeLookedAtUnhooksNoSignal) {
  Child service{serving({"--log", "stderr"})};
  ASSERT_TRUE(service.wait_for("serving "));
  auto text = read_file(site.file("inventory.yaml"), 1u << 20).value();
  const auto key = text.find("key: ");
  ASSERT_NE(key, text.npos);
  site.write("inventory.yaml", text.insert(key + 5, std::string(300, 'a')));

  service.signal(SIGHUP);
  ASSERT_TRUE(service.wait_for("service-not-reloaded"));
  service.signal(SIGHUP);
  service.signal(SIGTERM);

  EXPECT_EQ(service.wait().status, 0);
}

TEST_F(ServeTest, AFullDiskIsAProblemForChangesAndNotForReads) {
  constexpr std::size_t kDisk = 1u << 20;
  Child service{serving(), {}, kDisk};
  ASSERT_TRUE(service.wait_for("serving "));

  int status = 0;
  for (int i = 0; i < 2000 && status != 507; ++i)
    status = ask("POST", "/api/v1/runs", R"({"playbook":"none","nodes":"all"})").status;

  EXPECT_EQ(status, 507);
  EXPECT_EQ(ask("GET", "/api/v1/runs").status, 200);
  EXPECT_EQ(ask("GET", "/api/v1/inventory").status, 200);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().status, 0);
}

TEST_F(ServeTest, ReportsToSystemdThatItIsReadyAliveReloadingAndStopping) {
  const int notices = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = site.file("notify");
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(::bind(notices, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const timeval patience{60, 0};
  ::setsockopt(notices, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const auto next = [&] {
    std::array<char, 256> text{};
    const auto size = ::recv(notices, text.data(), text.size(), 0);
    return std::string(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  };

  Child service{serving(), {"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=200000"}};

  EXPECT_EQ(next(), "READY=1");
  EXPECT_EQ(next(), "WATCHDOG=1");
  EXPECT_EQ(next(), "WATCHDOG=1");
  const auto next_change = [&] {
    auto text = next();
    while (text == "WATCHDOG=1") text = next();
    return text;
  };
  service.signal(SIGHUP);
  EXPECT_THAT(next_change(), HasSubstr("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(next_change(), "READY=1");
  service.signal(SIGTERM);
  EXPECT_EQ(next_change(), "STOPPING=1");
  EXPECT_EQ(service.wait().status, 0);
  ::close(notices);
}

TEST_F(ServeTest, TakesTheSocketThatSystemdHolds) {
  // It starts the service at the first connection, which is already waiting then.
  std::vector<std::string> activated{"systemd-socket-activate", "--listen=" + site.file("s")};
  for (auto& word : serving()) activated.push_back(std::move(word));
  Child service{activated};
  ASSERT_TRUE(service.wait_for("Listening on "));

  const auto first = ask("GET", "/api/v1/runs");
  const auto second = ask("GET", "/api/v1/runs");

  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(second.status, 200);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().status, 0);
  // The socket is not the service's to remove: the next one is to find its clients there.
  EXPECT_TRUE(std::filesystem::is_socket(site.file("s")));
}

TEST_F(ServeTest, ATokenIsShownOnceAndListedWithoutItsSecret) {
  const auto made = site.run({"token", "add", "alice", "--role", "operator", "--racks", "v01"});
  ASSERT_EQ(made.status, 0) << made.err;
  ASSERT_TRUE(made.out.starts_with("cupel_"));
  const auto id = made.out.substr(6, 16), secret = made.out.substr(23, 64);

  const auto listed = site.run({"token", "list"});
  const auto revoked = site.run({"token", "revoke", id});
  const auto after = site.run({"token", "list", "--json"});

  EXPECT_THAT(listed.out, AllOf(HasSubstr(id), HasSubstr("alice"), Not(HasSubstr(secret))));
  EXPECT_EQ(revoked.status, 0) << revoked.err;
  EXPECT_THAT(after.out, HasSubstr("\"state\":\"revoked\""));
  EXPECT_EQ(site.run({"token", "add", "eve", "--role", "root"}).status, 2);
  for (const auto* racks : {"", " ", ",", "v01,", "*"})
    EXPECT_EQ(site.run({"token", "add", "eve", "--racks", racks}).status, 2) << racks;
  EXPECT_EQ(site.run({"token", "revoke", "0000000000000000"}).status, 2);
}

TEST_F(ServeTest, AWrongConfigurationIsRefusedWithEveryErrorOfIt) {
  site.write("service.yaml", "playbooks: books\nlisten: [nowhere]\nusers: [{user: a, role: b}]\n");

  const auto ran = run(serving());

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("service.yaml:3:"));
}

enum class Way { here, at_its_socket, elsewhere };

/// The commands of an operator's day, on the state folder, at the socket of a service of this
/// machine, and at one elsewhere with a token: the same words, the same exit codes.
class EitherWay : public ServeTest, public ::testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    if (GetParam() != Way::elsewhere) return;
    const auto listening = api::listening_tcp_socket("127.0.0.1:0");
    ASSERT_TRUE(listening) << listening.error().what;
    // For the service to inherit.
    ASSERT_EQ(::fcntl(listening->descriptor, F_SETFD, 0), 0);
    listening_ = *listening;
    const auto made = site.run({"token", "add", "alice", "--role", "operator"});
    ASSERT_EQ(made.status, 0) << made.err;
    token_ = made.out.substr(0, made.out.find('\n'));
  }
  void TearDown() override {
    if (listening_) ::close(listening_->descriptor);
    ServeTest::TearDown();
  }
  bool there() const { return GetParam() != Way::here; }
  /// The one that commands ask; elsewhere it has its TCP socket as systemd would pass it.
  std::vector<std::string> asked_service() const {
    auto words = serving();
    if (!listening_) return words;
    words.insert(words.begin(), {"bash", "-c",
                                 fmt::format("exec 3<&{}; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"",
                                             listening_->descriptor),
                                 "bash"});
    return words;
  }
  std::vector<std::string> words(std::vector<std::string> arguments) const {
    auto all = site.cupel(std::move(arguments));
    std::vector<std::string> where;
    if (GetParam() == Way::at_its_socket) where = {"CUPEL_SERVER=unix:" + site.file("s")};
    if (GetParam() == Way::elsewhere)
      where = {"CUPEL_SERVER=https://" + listening_->address, "CUPEL_TOKEN=" + token_,
               "CUPEL_CA=" + site.file("state/service-certificate.pem")};
    all.insert(all.begin() + 3, where.begin(), where.end());  // behind env -C
    return all;
  }
  Ran either(std::vector<std::string> arguments) const { return run(words(std::move(arguments))); }
  /// The controller writes its status once a second, behind what happened.
  Ran until_reported(const std::vector<std::string>& arguments, const std::string& text) const {
    const auto enough = Deadline::in(std::chrono::minutes{1});
    auto ran = either(arguments);
    while (!ran.out.contains(text) && !enough.passed()) ran = either(arguments);
    return ran;
  }
  std::string playbook(const std::string& name = "waiting") const {
    return there() ? name : "books/" + name + ".yaml";
  }

 private:
  std::optional<api::ListeningSocket> listening_{};
  std::string token_{};
};

TEST_P(EitherWay, ARunIsShownPausedApprovedAndReported) {
  Child service{asked_service()};
  ASSERT_TRUE(service.wait_for("serving "));
  Child shown{words({"run", playbook(), "--no-console", "-n", "v01-n01"})};
  ASSERT_TRUE(shown.wait_for("run 1 was submitted: "));
  ASSERT_TRUE(shown.wait_for("bmc-facts"));

  const auto paused = either({"pause", "1", "--reason", "noise"});
  const auto unknown_step = either({"approve", "1", "nothing"});
  const auto unknown_node = either({"retry", "1", "v01-n09"});
  const auto unpaused = either({"unpause", "1"});
  stream_until("\"kind\":\"step-ended\",\"node\":\"v01-n01\",\"step\":\"bmc-facts\"");
  const auto status = until_reported({"status"}, "wait for approval");
  const auto to_do = either({"actions"});
  const auto retried = either({"retry", "1", "v01-n01"});
  const auto skipped = either({"skip", "1", "v01-n01", "power-on", "--reason", "on order"});
  const auto approved = either({"approve", "1"});
  const auto ended = shown.wait();
  const auto again = either({"pause", "1"});
  const auto showed = either({"show", "v01-n01"});
  const auto nobody = either({"show", "v01-n77"});
  const auto reported = either({"report", "1", "--csv"});
  const auto missing = either({"report", "7"});
  const auto steps = either({"status", "1"});
  const auto no_steps = either({"status", "7"});
  const auto untested = either({"requalify", "v01-n01", "--plan"});

  EXPECT_THAT(paused.out, HasSubstr("run 1: pause: accepted")) << paused.err;
  EXPECT_EQ(paused.status, 0);
  EXPECT_EQ(unknown_step.status, 2);
  EXPECT_THAT(unknown_step.err, HasSubstr("run 1 has no step 'nothing'"));
  EXPECT_EQ(unknown_node.status, 2);
  EXPECT_THAT(unknown_node.err, HasSubstr("run 1 has no node 'v01-n09'"));
  EXPECT_EQ(unpaused.status, 0) << unpaused.err;
  EXPECT_THAT(status.out, HasSubstr("  running ")) << status.err;
  EXPECT_THAT(status.out, HasSubstr("1 nodes wait for approval: "));
  EXPECT_THAT(status.out, HasSubstr("cupel approve 1 approval"));
  EXPECT_THAT(to_do.out, HasSubstr("approve 1 approval")) << to_do.err;
  EXPECT_EQ(to_do.status, 1);
  EXPECT_EQ(retried.status, 2);
  EXPECT_THAT(retried.err, HasSubstr("v01-n01 has no failed step"));
  EXPECT_EQ(skipped.status, 0) << skipped.err;
  EXPECT_EQ(approved.status, 0) << approved.err;
  EXPECT_EQ(ended.status, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("run 1 (waiting) ended"));
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("run 1 is ended already"));
  EXPECT_THAT(showed.out, HasSubstr("v01-n01 in run 1: inconclusive"));
  EXPECT_EQ(nobody.status, 2);
  EXPECT_THAT(nobody.err, HasSubstr("no run has ever seen node 'v01-n77'"));
  EXPECT_EQ(reported.status, 1);
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("there is no run 7"));
  EXPECT_EQ(steps.status, 0) << steps.err;
  EXPECT_THAT(steps.out, AllOf(HasSubstr("failed on\n"), HasSubstr("\n  bmc-facts ")));
  EXPECT_EQ(no_steps.status, 2);
  EXPECT_THAT(no_steps.err, HasSubstr("there is no run 7"));
  EXPECT_EQ(untested.status, 2);
  EXPECT_THAT(untested.err, HasSubstr("v01-n01 has passed no run with a stage that loads it"));
  if (!there()) return;
  // All that was printed is what the state folder prints.
  EXPECT_EQ(showed.out, site.run({"show", "v01-n01"}).out);
  EXPECT_EQ(reported.out, site.run({"report", "1", "--csv"}).out);
  EXPECT_EQ(steps.out, site.run({"status", "1"}).out);
  EXPECT_EQ(either({"show", "v01-n01", "--json"}).out, site.run({"show", "v01-n01", "--json"}).out);
  EXPECT_EQ(either({"report", "1", "--json"}).out, site.run({"report", "1", "--json"}).out);
  EXPECT_EQ(either({"actions"}).out, site.run({"actions"}).out);
}

TEST_P(EitherWay, AnInterruptedRunIsResumedAndFollowed) {
  {
    // Of a terminal: no service resumes it by itself.
    Child terminal{site.cupel({"run", "books/waiting.yaml", "--no-console", "-n", "v01-n01"})};
    ASSERT_TRUE(terminal.wait_for("bmc-facts done"));
    terminal.signal(SIGTERM);
    ASSERT_EQ(terminal.wait().status, 3);
  }
  Child service{asked_service()};
  ASSERT_TRUE(service.wait_for("serving "));

  const auto before = either({"status"});
  const auto resumed = either({"resume", "1", "--detach"});
  stream_until("event: run-resumed");
  Child followed{words({"follow", "1"})};
  ASSERT_TRUE(followed.wait_for("bmc-facts"));
  const auto approved = either({"approve", "1"});
  const auto ended = followed.wait();

  EXPECT_THAT(before.out, HasSubstr("interrupted")) << before.err;
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(approved.status, 0) << approved.err;
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("run 1 (waiting) ended"));
  EXPECT_EQ(either({"resume", "1"}).status, 2);
}

TEST_P(EitherWay, ACancelledRunEndsWithItsCode) {
  Child service{asked_service()};
  ASSERT_TRUE(service.wait_for("serving "));
  Child shown{words({"run", playbook(), "--no-console", "-n", "v01-n02", "--json"})};
  ASSERT_TRUE(shown.wait_for("\"event\":\"step-ended\""));

  const auto cancelled = either({"cancel", "1", "--reason", "wrong rack"});
  const auto ended = shown.wait();

  EXPECT_EQ(cancelled.status, 0) << cancelled.err;
  EXPECT_THAT(cancelled.out, HasSubstr("run 1 is cancelled"));
  EXPECT_EQ(ended.status, 3) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("run 1 was cancelled"));
}

TEST_P(EitherWay, WithoutATerminalFollowingEndsWhereOnlyAnOperatorCarriesTheRunOn) {
  site.rack().post("v01-n01", [](auto& machine) {
    machine.set_faults({{.kind = rehearsal::FaultKind::psu_missing, .part = "psu2"}});
  });
  Child service{asked_service()};
  ASSERT_TRUE(service.wait_for("serving "));
  const auto begin = [&](const char* first) {
    const auto begun = either({"run", playbook("parts"), "--no-console", "--detach",
                               "--wait-for-repair", "10m", "--set", first});
    EXPECT_EQ(begun.status, 0) << begun.err;
  };

  begin("first=100");
  const auto waiting = either({"follow", "1"});
  const auto status = either({"status"});
  either({"cancel", "1"});
  begin("first=1");
  const auto halted = either({"follow", "2"});
  either({"cancel", "2"});
  const auto of_run = [&](const char* nodes) {
    return either(
        {"run", playbook("parts"), "--no-console", "--wait-for-repair", "0s", "-n", nodes});
  };
  const auto again = of_run("failed:1"), none = of_run("passed:1,failed:9");

  EXPECT_EQ(waiting.status, 1) << waiting.err;
  EXPECT_THAT(waiting.out, AllOf(HasSubstr("v01-n01"), HasSubstr("psu"),
                                 HasSubstr("run 1 stays open for nodes that wait for repair")));
  EXPECT_THAT(status.out, HasSubstr("for repairs: cupel actions 1")) << "the run itself goes on";
  EXPECT_EQ(halted.status, 4) << halted.out << halted.err;
  EXPECT_THAT(halted.err, AllOf(HasSubstr("run 2 is halted: 1 of 1 nodes of the canary failed"),
                                HasSubstr("cupel continue 2"), Not(HasSubstr("cupel resume"))));
  EXPECT_EQ(again.status, 1) << again.out << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("v01-n01 audit"), Not(HasSubstr("v01-n02"))));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no run 9"));
}

INSTANTIATE_TEST_SUITE_P(Commands, EitherWay,
                         ::testing::Values(Way::here, Way::at_its_socket, Way::elsewhere),
                         [](const auto& each) {
                           if (each.param == Way::here) return "Here";
                           return each.param == Way::elsewhere ? "Elsewhere" : "AtAService";
                         });

TEST_F(ServeTest, ACommandSaysWhyAServiceCannotBeAsked) {
  const auto with = [&](const std::string& server) {
    auto words = site.cupel({"pause", "1"});
    words.insert(words.begin() + 3, "CUPEL_SERVER=" + server);  // behind env -C FOLDER
    return run(words);
  };

  EXPECT_EQ(with("http://127.0.0.1:1").status, 2);
  const auto gone = with("https://127.0.0.1:1");
  EXPECT_EQ(gone.status, 3);
  EXPECT_THAT(gone.err, HasSubstr("https://127.0.0.1:1: "));
}

TEST_F(ServeTest, ARunThatIsLeftToTheServiceIsNamedAndErrorsAreThoseOfTheCommandItself) {
  Child service{serving()};
  ASSERT_TRUE(service.wait_for("serving "));
  const auto there = [&](std::vector<std::string> words) {
    auto line = site.cupel(std::move(words));
    line.insert(line.begin() + 3, "CUPEL_SERVER=unix:" + site.file("s"));  // behind env -C FOLDER
    return run(line);
  };

  const auto left = there({"run", "waiting", "-n", "v01-n01", "--detach", "--json"});
  const auto misspelt = there({"run", "waitng", "-n", "v01-n02"});
  const auto unknown = there({"run", "quick-check", "-n", "v01-n02", "--set", "wiat=2m"});

  EXPECT_EQ(left.status, 0) << left.err;
  EXPECT_EQ(left.out, "{\"run\":1}\n");
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("did you mean 'waiting'"));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("'wiat'"));
  EXPECT_EQ(there({"cancel", "1"}).status, 0);
}

TEST_F(ServeTest, ACommandOnTheStateFolderDoesNotTakeAnotherOneForTheServices) {
  const auto with = [&](const std::vector<std::string>& words) {
    std::vector<std::string> line{"env", "CUPEL_SERVER=https://127.0.0.1:1",
                                  "CUPEL_STATE=" + site.file("none"), CUPEL_BINARY};
    line.insert(line.end(), words.begin(), words.end());
    return run(line);
  };

  for (const auto& words :
       std::vector<std::vector<std::string>>{{"audit", "diff", "1", "2"},
                                             {"backup", site.file("copy")},
                                             {"certificate", "1", "--key", "k"},
                                             {"controller"},
                                             {"fabric", "after-swap"},
                                             {"fabric", "health", "now"},
                                             {"fabric", "history"},
                                             {"fabric", "repaired", "l1/1", "--did", "reseat"},
                                             {"parts"},
                                             {"profile", "learn", "p"},
                                             {"restore", site.file("copy")},
                                             {"rma", "n1"},
                                             {"store", "verify"},
                                             {"token", "list"},
                                             {"verdict", "recompute", "1"}}) {
    const auto ran = with(words);
    EXPECT_EQ(ran.status, 2) << words[0] << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("works on a state folder of this machine, and $CUPEL_SERVER "
                                   "names https://127.0.0.1:1"))
        << words[0];
  }
  EXPECT_FALSE(std::filesystem::exists(site.file("none")));
  EXPECT_FALSE(std::filesystem::exists(site.file("copy")));
  EXPECT_EQ(with({"--state", site.file("state"), "token", "list"}).status, 0);
  EXPECT_EQ(with({"profile", "schema"}).status, 0) << "it reads no records";
}

TEST(ServiceUnit, IsHardened) {
  const auto unit = std::filesystem::path{SOURCE_DIR} / "cmake/package/cupel.service";
  const auto ran =
      run({"systemd-analyze", "security", "--offline=yes", "--threshold=30", unit.string()});
  CUPEL_NEEDS_REAL_PART(ran.status != 127, "no systemd-analyze: apt-get install systemd");

  EXPECT_EQ(ran.status, 0) << ran.out;
}

TEST(ServiceUnit, KeepsTheFolderOfTheSocketWhileItIsStopped) {
  const auto package = std::filesystem::path{SOURCE_DIR} / "cmake/package";

  const auto service = read_file(package / "cupel.service", 64u << 10).value();
  const auto socket = read_file(package / "cupel.socket", 64u << 10).value();

  ASSERT_THAT(socket, HasSubstr("ListenStream=/run/cupel/cupel.sock\n"));
  EXPECT_THAT(service, HasSubstr("RuntimeDirectory=cupel\n"));
  EXPECT_THAT(service, HasSubstr("RuntimeDirectoryPreserve=yes\n"));
}

}  // namespace
}  // namespace cupel::testing

#pragma once
// A service on a store of a folder of its own, and a client that sends what it is asked to, byte
// by byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/buffers_iterator.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/api/service.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/store/access_tokens.h"
#include "orchestrator/store/store.h"

namespace cupel::test {

struct Heard {
  int status = 0;
  std::string head{};
  std::string body{};

  std::string field(std::string_view name) const {
    const auto expected = "\r\n" + lower_case(name) + ": ";
    const auto at = lower_case(head).find(expected);
    if (at == head.npos) return {};
    const auto begin = at + expected.size();
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
  json::value json() const { return parse_json(body).value_or(nullptr); }
};

inline Heard heard_of(const std::string& text) {
  Heard heard;
  const auto end = text.find("\r\n\r\n");
  heard.head = text.substr(0, end);
  if (heard.head.size() > 12) heard.status = std::atoi(heard.head.c_str() + 9);
  if (end != text.npos) heard.body = text.substr(end + 4);
  return heard;
}

/// Sends the bytes and reads until the other side closes.
template <class Stream>
std::string exchanged(Stream& stream, const std::string& bytes) {
  boost::system::error_code failure;
  asio::write(stream, asio::buffer(bytes), failure);
  asio::streambuf read;
  asio::read(stream, read, failure);
  return {asio::buffers_begin(read.data()), asio::buffers_end(read.data())};
}

struct Ask {
  std::string method = "GET";
  std::string target{};
  std::string body{};
  std::string token{};
  std::vector<std::string> fields{};  // "If-None-Match: ..."
  std::string host = "localhost";
};

inline std::string request_text(const Ask& ask) {
  auto text = ask.method + " " + ask.target + " HTTP/1.1\r\nHost: " + ask.host +
              "\r\nConnection: close\r\n";
  if (!ask.token.empty()) text += "Authorization: Bearer " + ask.token + "\r\n";
  for (const auto& field : ask.fields) text += field + "\r\n";
  if (!ask.body.empty())
    text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(ask.body.size()) +
            "\r\n";
  return text + "\r\n" + ask.body;
}

class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("cupel-api-" + std::to_string(::getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    store_ = store::Store::open(state()).value();
  }
  void TearDown() override {
    service_.reset();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path state() const { return folder_ / "state"; }
  store::Store& store() { return *store_; }

  void write(const std::string& name, const std::string& text) {
    std::ofstream{folder_ / name} << text;
    std::filesystem::permissions(folder_ / name, std::filesystem::perms{0600});
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  /// A run on racks a01 and a02, one node each; the first has been judged.
  engine::RunId run_of_two() {
    store::Run run;
    run.playbook = "small";
    run.playbook_file = "small.yaml";
    run.playbook_text = "playbook: small\nsteps:\n  - step: bmc-facts\n";
    run.nodes = {"a01-n01", "a02-n01"};
    const auto id = store_->begin_run(run).value();
    using engine::EventKind;
    append(id, EventKind::run_started, "", "",
           R"({"playbook":"small","site":"here","racks":[{"name":"a01","units":48},
           {"name":"a02","units":48}],"nodes":[{"name":"a01-n01","profile":"p","rack":"a01",
           "unit":1,"height":4},{"name":"a02-n01","profile":"p","rack":"a02","unit":5,
           "height":4}],"steps":["bmc-facts","verdict"],"by":"alice"})");
    append(id, EventKind::step_began, "a01-n01", "bmc-facts", R"({"attempt":1})");
    append(id, EventKind::step_ended, "a01-n01", "bmc-facts",
           R"({"outcome":"done","detail":"read","bmc_parts":[{"kind":"gpu","name":"gpu3",
           "model":"H100","serial":"SER-77"}]})");
    append(id, EventKind::step_began, "a01-n01", "verdict", R"({"attempt":1})");
    append(id, EventKind::step_ended, "a01-n01", "verdict",
           R"({"outcome":"done","verdict":"fail","causes":[{"decision":"fail","part":"gpu3",
           "criterion":"gemm.bf16.rate","measured":"300 TFLOP/s","expected":"at least 600"}]})");
    append(id, EventKind::step_began, "a02-n01", "bmc-facts", R"({"attempt":1})");
    return id;
  }
  void append(engine::RunId run, engine::EventKind kind, const std::string& node,
              const std::string& step, const std::string& data) {
    engine::Event event;
    event.kind = kind;
    event.node = node;
    event.step = step;
    event.data = parse_json(data).value().as_object();
    const auto written = store_->append(run, event);
    ASSERT_TRUE(written) << written.error().what;
  }

  std::string token(const std::string& name, const std::string& role,
                    const std::vector<std::string>& racks = {},
                    std::chrono::milliseconds lasts = std::chrono::hours{1}) {
    auto tokens = store::AccessTokens::open(state()).value();
    const auto now = report::wall_now();
    return tokens
        .add({.name = name,
              .role = role,
              .racks = racks.empty() ? inventory::RackScope::all()
                                     : inventory::RackScope::of(racks).value(),
              .made_by = "test",
              .made = now,
              .expires = now + lasts})
        .value();
  }

  api::ServiceOptions usual() const {
    api::ServiceOptions options;
    options.state = state();
    options.version = "test";
    options.listen = {"127.0.0.1:0"};
    options.socket = folder_ / "s";
    return options;
  }
  void serve(api::ServiceOptions options) {
    service_.reset();
    auto opened = api::Service::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().what;
    service_ = *std::move(opened);
    service_->start();
  }
  void serve() { serve(usual()); }
  api::Service& service() { return *service_; }

  asio::ip::tcp::endpoint endpoint() const {
    for (const auto& each : service_->addresses())
      if (each.starts_with("https://127.0.0.1:"))
        return {asio::ip::make_address("127.0.0.1"),
                number<std::uint16_t>(std::string_view{each}.substr(18)).value_or(0)};
    return {};
  }

  /// Over the Unix socket, as whoever runs the test.
  Heard ask(const Ask& asked) { return heard_of(raw(request_text(asked))); }
  Heard get(const std::string& target, std::vector<std::string> fields = {}) {
    return ask({.target = target, .fields = std::move(fields)});
  }
  Heard post(const std::string& target, const std::string& body, const std::string& key) {
    return ask(
        {.method = "POST", .target = target, .body = body, .fields = {"Idempotency-Key: " + key}});
  }
  std::string raw(const std::string& bytes) {
    asio::io_context io;
    asio::local::stream_protocol::socket socket{io};
    socket.connect({(folder_ / "s").string()});
    return exchanged(socket, bytes);
  }
  /// Over TLS.
  Heard ask_tls(const Ask& asked) { return heard_of(raw_tls(request_text(asked))); }
  std::string raw_tls(const std::string& bytes) {
    asio::io_context io;
    asio::ssl::context context{asio::ssl::context::tls_client};
    asio::ssl::stream<asio::ip::tcp::socket> stream{io, context};
    stream.lowest_layer().connect(endpoint());
    boost::system::error_code refused;
    stream.handshake(asio::ssl::stream_base::client, refused);
    return refused ? std::string{} : exchanged(stream, bytes);
  }
  /// All of a stream, up to its end with the token that opened it. The token lasts as long as it
  /// takes to hear `text`.
  std::string raw_tls_until_token_ends(const std::string& target, const std::string& text,
                                       const std::vector<std::string>& racks = {}) {
    std::string heard;
    for (std::chrono::milliseconds lasts{300};
         heard.find(text) == heard.npos && lasts < std::chrono::minutes{1}; lasts *= 4)
      heard =
          raw_tls(request_text({.target = target, .token = token("bob", "viewer", racks, lasts)}));
    return heard;
  }

 private:
  std::filesystem::path folder_{};
  std::unique_ptr<store::Store> store_{};
  std::unique_ptr<api::Service> service_{};
};

}  // namespace cupel::test

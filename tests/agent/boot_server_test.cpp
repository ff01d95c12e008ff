// What the boot client makes of curl's answers.
#include "burnin/agent/node/boot/boot_server.h"

#include <gmock/gmock.h>

#include <array>

#include "tests/agent/boot_image.h"

namespace cupel::agent::boot {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// What curl 7.88.1 with OpenSSL 3.0 prints with status 60.
std::string refusal_of_curl(const std::string& problem) {
  return "curl: (60) SSL certificate problem: " + problem +
         "\nMore details here: https://curl.se/docs/sslcerts.html\n\n"
         "curl failed to verify the legitimacy of the server and therefore could not\n"
         "establish a secure connection to it. To learn more about this situation and\n"
         "how to fix it, please visit the web page mentioned above.\n";
}

class BootServerOverTls : public ::testing::Test {
 protected:
  Failure failure_for(const std::string& problem) {
    BootServer::Settings settings;
    settings.url = "https://10.0.0.1:8081/boot/0123456789abcdef0123456789abcdef/";
    settings.pause = [](std::chrono::milliseconds) {};
    settings.clock = [] { return std::time_t{820'454'400}; };
    settings.run = [this, problem](const Argv&, std::string_view, std::chrono::seconds) {
      ++asked_;
      return Finished{60, "", refusal_of_curl(problem)};
    };
    return BootServer{std::move(settings)}.post("hello", "{}").error();
  }

  int asked_ = 0;
};

TEST_F(BootServerOverTls, NamesTheClockByWhichTheCertificateDoesNotHold) {
  for (const std::string problem : {"certificate is not yet valid", "certificate has expired"}) {
    const auto failure = failure_for(problem);

    EXPECT_EQ(to_string(failure.cause), "clock");
    EXPECT_THAT(failure.text, AllOf(HasSubstr("this machine's clock says 1996-01-01 00:00 UTC"),
                                    HasSubstr(problem), HasSubstr("set it in the BIOS setup")));
  }
  EXPECT_EQ(asked_, 2) << "the clock does not mend by asking again";
}

TEST_F(BootServerOverTls, NamesWhatElseIsWrongWithTheCertificate) {
  const auto failure = failure_for("unable to get local issuer certificate");

  EXPECT_EQ(failure.cause, Cause::kServer);
  EXPECT_THAT(failure.text, HasSubstr("unable to get local issuer certificate"));
  EXPECT_EQ(asked_, 1);
}

/// Sends half of what is asked for and ends, as a controller that is killed; the one that follows
/// serves ranges. Prints each Range.
constexpr const char* kDyingServer = R"(
import http.server, sys
content = open(sys.argv[1], 'rb').read()
class Handler(http.server.BaseHTTPRequestHandler):
  died = False
  def do_GET(self):
    asked = self.headers.get('Range')
    print('range', asked, flush=True)
    first = int(asked[6:].split('-')[0]) if asked else 0
    self.send_response(206 if asked else 200)
    self.send_header('Content-Length', str(len(content) - first))
    if asked:
      self.send_header('Content-Range', f'bytes {first}-{len(content) - 1}/{len(content)}')
    self.end_headers()
    end = len(content) if Handler.died else len(content) // 2
    Handler.died = True
    self.wfile.write(content[first:end])
    self.close_connection = True
  def log_message(self, *words): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
open(sys.argv[2], 'w').write(str(server.server_port))
print('ready', flush=True)
server.serve_forever()
)";

TEST(BootServerThatDies, WhileAnImageStreamsIsAskedForTheRestByTheNextController) {
  const test::TemporaryFolder folder;
  const auto content = random_bytes(4 << 20);
  std::ofstream{folder.path() / "image", std::ios::binary} << content;
  testing::Child server{{"/usr/bin/python3", "-u", "-c", kDyingServer,
                         (folder.path() / "image").string(), (folder.path() / "port").string()}};
  ASSERT_TRUE(server.wait_for("ready"));
  BootServer::Settings settings;
  settings.url = "http://127.0.0.1:" + file_bytes(folder.path() / "port") + "/";
  int pauses = 0;
  settings.pause = [&pauses](std::chrono::milliseconds) { ++pauses; };

  const auto source = BootServer{std::move(settings)}.image("image", content.size());
  std::string received;
  std::array<char, 65'536> piece{};
  for (;;) {
    const auto got = source(piece);
    ASSERT_TRUE(got) << got.error().text;
    if (*got == 0) break;
    received.append(piece.data(), *got);
  }

  EXPECT_TRUE(received == content) << received.size() << " bytes";
  EXPECT_EQ(pauses, 1);
  EXPECT_TRUE(server.wait_for("range bytes=2097152-"));
}

}  // namespace
}  // namespace cupel::agent::boot

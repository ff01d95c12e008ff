// What the boot client makes of curl's answers.
#include "burnin/agent/node/boot/boot_server.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace cupel::agent::boot

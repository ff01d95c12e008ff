#include "bmc/redfish/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kAsked = "a01-n01: GET /redfish/v1/X";

std::string error_of(std::string_view id, std::string_view text,
                     std::string_view severity = "Critical") {
  return serialize(
      json::value{{"error",
                   {{"code", "Base.1.0.GeneralError"},
                    {"message", "See ExtendedInfo."},
                    {"@Message.ExtendedInfo",
                     json::array{json::object{
                         {"MessageId", id}, {"Message", text}, {"Severity", severity}}}}}}});
}

Error failure_of(int status, std::string body, std::string type = "application/json") {
  const Response response{
      .status = status, .body = std::move(body), .content_type = std::move(type)};
  auto answer = understood(kAsked, response);
  return answer ? Error{Code::kInvalid, "it was understood"} : std::move(answer).error();
}

TEST(Answer, TellsTheBmcsOwnWords) {
  const auto error =
      failure_of(400, error_of("Base.1.0.PropertyNotWriteable", "SKU is read-only."));

  EXPECT_EQ(error.code, Code::kFailed);
  EXPECT_EQ(
      error.what,
      "a01-n01: GET /redfish/v1/X: HTTP 400: SKU is read-only. (Base.1.0.PropertyNotWriteable)");
}

TEST(Answer, SaysLicenceWhereALicenceIsMissing) {
  const auto error = failure_of(403, error_of("SMC.1.0.OemLicenseNotPassed", "Not licensed."));

  EXPECT_EQ(error.code, Code::kUnsupported);
  EXPECT_THAT(error.what, ::testing::HasSubstr("needs a licence"));
}

// sushy-emulator refuses in plain text.
TEST(Answer, TellsTheTextOfARefusalThatIsNoJson) {
  const auto error =
      failure_of(400, "Failed to download and attach HttpBootUri.\n\x1b[31mred", "text/plain");

  EXPECT_EQ(
      error.what,
      "a01-n01: GET /redfish/v1/X: HTTP 400: Failed to download and attach HttpBootUri.[31mred");
  EXPECT_LT(failure_of(400, std::string(100'000, 'x'), "text/plain").what.size(), 1000u);
}

TEST(Answer, SortsStatusCodes) {
  const std::map<int, Code> expected{{401, Code::kRefused},     {403, Code::kRefused},
                                     {404, Code::kNotFound},    {405, Code::kUnsupported},
                                     {409, Code::kConflict},    {412, Code::kConflict},
                                     {429, Code::kBusy},        {500, Code::kFailed},
                                     {501, Code::kUnsupported}, {503, Code::kBusy}};

  std::map<int, Code> sorted;
  for (const auto& [status, code] : expected) sorted[status] = failure_of(status, "").code;

  EXPECT_EQ(sorted, expected);
}

TEST(Answer, KeepsRetryAfter) {
  const Response response{.status = 503, .retry_after = 30s};

  EXPECT_EQ(understood(kAsked, response).error().retry_after, 30s);
}

TEST(Answer, IsMalformedWhereAWebPageCameInsteadOfJson) {
  const auto error = failure_of(200, "<!DOCTYPE html><html>Log in</html>", "text/html");

  EXPECT_EQ(error.code, Code::kMalformed);
  EXPECT_EQ(error.what, "a01-n01: GET /redfish/v1/X: HTTP 200: a web page where JSON was due");
}

TEST(Answer, IsBusyWhereAWebPageSaysSo) {
  EXPECT_EQ(failure_of(503, "<html>starting</html>", "text/html").code, Code::kBusy);
}

TEST(Answer, IsAFailureWhereA200HasAnErrorInIt) {
  const auto error = failure_of(200, error_of("Base.1.0.InternalError", "It did not work."));

  EXPECT_EQ(error.code, Code::kFailed);
  EXPECT_THAT(error.what, ::testing::HasSubstr("HTTP 200 with an error in it: It did not work."));
}

TEST(Answer, IsAnAnswerWhereSuccessComesAsAnError) {
  const Response response{.status = 200, .body = error_of("Base.1.0.Success", "Done.", "OK")};

  EXPECT_TRUE(understood(kAsked, response));
}

TEST(Answer, IsAnAnswerWhereAResetIsRequired) {
  const Response response{.status = 200,
                          .body = R"({"error": {"code": "iLO.0.10.ExtendedInfo", "message": "See.",
                  "@Message.ExtendedInfo": [{"MessageId": "iLO.2.15.SystemResetRequired"}]}})"};

  EXPECT_TRUE(understood(kAsked, response));
}

TEST(Answer, IsMalformedWhereItIsNestedTooDeeply) {
  Response response{.status = 200};
  response.body = std::string(100, '[') + std::string(100, ']');

  const auto answer = understood("a01-n01: GET /redfish/v1", response);

  EXPECT_EQ(answer.error().code, Code::kMalformed);
}

TEST(Answer, ReadsTheFirstOfTwoDocumentsInOneBody) {
  const Response response{.status = 200, .body = R"({"Id": "1"} {"error": {}})"};

  const auto answer = understood(kAsked, response);

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, (json::value{{"Id", "1"}}));
}

TEST(Answer, ReadsAMessageThatIsNoArrayAndHasNoText) {
  const json::value body{
      {"error", {{"@Message.ExtendedInfo", {{"MessageId", "iLO.2.15.Unauthorized"}}}}}};

  EXPECT_EQ(reported_messages(body), "iLO.2.15.Unauthorized");
}

TEST(Answer, TakesTheEtagFromTheBodyWhereNoHeaderHasIt) {
  const Response response{.status = 200, .body = R"({"@odata.etag": "W/\"5\""})"};

  EXPECT_EQ(understood(kAsked, response)->etag, "W/\"5\"");
}

TEST(Answer, KnowsThatSessionsAreExhausted) {
  const Response dell{.status = 503, .body = error_of("IDRAC.2.8.RAC0218", "Maximum reached.")};
  const Response busy{.status = 503,
                      .body = error_of("Base.1.0.ServiceTemporarilyUnavailable", "")};

  EXPECT_TRUE(says_sessions_exhausted(dell));
  EXPECT_FALSE(says_sessions_exhausted(busy));
}

TEST(Answer, KeepsTerminalsSafe) {
  const auto error = failure_of(400, error_of("X", "\u001b[2Jgone\r\nnext line"));

  EXPECT_EQ(error.what.find('\x1b'), std::string::npos);
  EXPECT_EQ(error.what.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace cupel::bmc::redfish

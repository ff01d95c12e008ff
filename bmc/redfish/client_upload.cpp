// The client's way of sending a file: like any request, but once.
#include <algorithm>

#include "base/text.h"
#include "bmc/redfish/client.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kMayHaveIt =
    "; all of the image was sent: the BMC may have taken it; its tasks and versions show";

/// A refusal is one; these are as well an update that began.
bool leaves_it_open(int status) {
  return status == 401 || std::ranges::find(kMayHaveBegun, status) != kMayHaveBegun.end();
}

}  // namespace

Task<Result<Answer>> Client::upload(std::string uri, Upload file, Deadline deadline) {
  if (!is_path(uri))
    co_return Error{Code::kInvalid,
                    peer_.node + ": not a path of this BMC: " + printable(shortened(uri, 200))};
  const std::string what = asked(Method::post, uri);
  const Question question{.method = Method::post, .uri = uri};
  CO_TRY(co_await ensure_known(question, deadline));
  CO_TRY(co_await ensure_credentials(deadline));
  const auto session = session_;  // our caller may log out meanwhile
  const auto token = session->token;
  if (!file.session.empty() && token.empty())
    co_return Error{Code::kUnsupported,
                    what +
                        ": the form carries a session's key, and the BMC has no session left; "
                        "end one and try again"};
  Request request =
      with_credentials({.method = Method::post, .path = uri, .headers = file.headers});
  if (!file.session.empty()) {
    file.fields.insert(file.fields.begin(), {file.session, "", token});
    request.headers.push_back("Cookie: " + file.session + "=" + token);
  }
  ++requests_;
  CO_TRY(const Response response,
         co_await transport_.upload(peer_, std::move(request), std::move(file), deadline));
  // AMI's refuse everything while they write, and others forget their sessions at a restart: that
  // is no wrong password.
  if (response.status == 401 && session->token == token) {
    session->token.clear();
    ended_ = std::exchange(session->uri, {});
  }
  auto answer = co_await understand(what, response);
  if (answer) co_return answer;
  const bool good = response.status >= 200 && response.status < 300;
  if (good && answer.error().code == Code::kMalformed)
    co_return Answer{.status = response.status, .body = nullptr, .location = response.location};
  auto error = std::move(answer).error();
  if (response.status == 401) error.code = Code::kUnreachable;
  if (response.status == 401) error.what += "; the session ended during the upload";
  if (response.cut_short) error.what += "; the BMC answered before it had the whole image";
  if (!response.cut_short && leaves_it_open(response.status)) {
    error.code = Code::kUnreachable;
    error.what += kMayHaveIt;
  }
  co_return error;
}

}  // namespace cupel::bmc::redfish

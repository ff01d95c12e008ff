#pragma once
// Which secrets a request carries, and an answer without them: the transport's two doors. No verb
// has to think of it.
#include "bmc/redfish/transport.h"

namespace cupel::bmc::redfish {

/// From now on hidden: the password of Basic, the session's token, every text in the body under a
/// key that says password, token or secret, and the passwords of URLs in it.
void learn(SentSecrets& secrets, const Request& request);

/// The answer, or the error, without any of them. A token that was just given out is learned, and
/// stays where the client looks for it.
Result<Response> scrubbed(SentSecrets& secrets, Result<Response> answer);

}  // namespace cupel::bmc::redfish

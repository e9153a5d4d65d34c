"""An application itself: what is to be known of its memory, and the reset of one of its deployments."""

from __future__ import annotations

from aiohttp import web

from runtime_svc.handlers.turns import turn
from runtime_svc.keys import ALLOWANCES, APPSPECS
from shared.http.answers import answer
from shared.http.keys import CALLER
from shared.scope import application_of
from shared.tokens import scope_of


async def setup_notes(request: web.Request) -> web.Response:
    """What its Appspec names that is not enabled here, in sentences."""
    application = scope_of(request[CALLER], application_of(request.match_info["app"])).application
    notes = request.app[APPSPECS].setup_notes(application)
    return answer({"app": request.match_info["app"], "remembers": not notes, "notes": notes})


async def reset_deployment(request: web.Request) -> web.Response:
    """Drop what this process holds of the caller's turns with a deployment; its memories are the application's."""
    app, deployment = request.match_info["app"], request.match_info["deployment"]
    application = scope_of(request[CALLER], application_of(app)).application
    application_of(deployment)
    dropped = request.app[ALLOWANCES].forget(turn(request), application)
    sentence = (
        "Reset. What the application remembers of you is left: its Preview and every deployment of it remember"
        f" together. It is forgotten where it is listed: DELETE /api/v1/apps/memories/{app}?count=N on this runtime, or"
        f" DELETE /api/runtimes/v1/memories?agent_id={application}&count=N on the platform."
    )
    return answer({"app": app, "deployment": deployment, "dropped_turns": dropped, "forgotten": 0, "message": sentence})

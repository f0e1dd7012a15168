"""The voting page as a web application, and the server that runs it."""

import socket
from collections.abc import Awaitable, Callable
from importlib.resources import files
from logging import getLogger
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from pydantic import AliasChoices, BaseModel, Field
from starlette.exceptions import HTTPException

from urs_inspect._util import InputError
from urs_inspect.annotation._access import SECURITY_HEADERS, Guard
from urs_inspect.annotation._campaign import OwnItems, People
from urs_inspect.annotation._pages import (
    DAY,
    LANGUAGES,
    PACKAGE,
    Page,
    entered_page,
    texts,
    token_page,
)

logger = getLogger(__name__)

_MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_STATUS = {"host": 421, "token": 401, "origin": 403, "size": 413}

Annotator = Annotated[str, Query(max_length=200)]
Next = Callable[[Request], Awaitable[Response]]


class UndoBody(BaseModel):
    """The ballot or the answer about which a decision is taken back."""

    item: str = Field(max_length=100, validation_alias=AliasChoices("ballot", "answer"))


class EnterBody(BaseModel):
    """Who wants to vote."""

    annotator: str = Field(max_length=200)


def create_app(page: Page[Any], *, guard: Guard | None = None) -> FastAPI:
    """The web application of the page of a campaign.

    By default only this machine may use it.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.page = page
    _protect(app, guard or Guard())
    _add_pages(app, page)
    _add_decisions(app, page)
    return app


def _protect(app: FastAPI, guard: Guard) -> None:
    @app.middleware("http")
    async def protect(request: Request, call_next: Next) -> Response:
        try:
            response = _refused(request, guard) or await call_next(request)
        except Exception:
            # Whatever fails, the person gets a page, with the headers that protect it.
            logger.exception("the voting page failed")
            response = _problem(request, 500, texts(_language(request))["problem"])
        response.headers.update(SECURITY_HEADERS)
        return response

    @app.exception_handler(InputError)
    async def input_error(request: Request, error: InputError) -> Response:
        return _problem(request, 409, str(error))

    @app.exception_handler(OSError)
    async def os_error(request: Request, error: OSError) -> Response:
        logger.error(f"what somebody decided could not be written: {error}")
        return _problem(request, 507, error.strerror or str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        reasons = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()
        )
        return _problem(request, 422, reasons)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        reason = str(error.detail)
        if error.status_code == 404:
            reason = texts(_language(request))["not_found"]
        return _problem(request, error.status_code, reason)


def _add_pages(app: FastAPI, page: Page[Any]) -> None:
    campaign = page.campaign

    @app.get("/")
    def start(request: Request, annotator: Annotator = "") -> Response:
        language = _language(request)
        if len(campaign.annotators) == 1:
            address = _session_address(campaign, campaign.annotators[0], language)
            return RedirectResponse(address, 303)
        return HTMLResponse(page.sign_in_page(language, annotator))

    @app.get(f"/{campaign.kind}/{{annotator}}")
    def session(request: Request, annotator: str) -> Response:
        language = _language(request)
        if not campaign.annotators and not campaign.knows(annotator):
            # Reading a page must not make a file; signing in does.
            return RedirectResponse(f"/?annotator={quote(annotator)}&language={language}", 303)
        return HTMLResponse(page.session_page(campaign.session(annotator), language))

    @app.get("/report")
    def report(request: Request, annotator: Annotator = "") -> Response:
        language = _language(request)
        back = f"/?language={language}"
        if annotator:
            back = _session_address(campaign, annotator, language)
        return HTMLResponse(page.report_page(language, back))

    @app.post("/enter")
    def enter(request: Request, body: EnterBody) -> dict[str, str]:
        session = campaign.session(body.annotator)
        return {"address": _session_address(campaign, session.annotator, _language(request))}

    folders = [files(package) / "static" for package in (PACKAGE, page.package)]
    static_files = {
        file.name: file
        for folder in folders
        for file in folder.iterdir()
        if Path(file.name).suffix in _MEDIA
    }

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in static_files:
            raise HTTPException(404)
        content = static_files[name].read_bytes()
        return Response(content, media_type=_MEDIA[Path(name).suffix])


def _add_decisions(app: FastAPI, page: Page[Any]) -> None:
    def page_part(request: Request, session: OwnItems[Any]) -> Response:
        return HTMLResponse(page.session_fragment(session, _language(request)))

    page.add_decisions(app, page_part)

    @app.post(f"/{page.campaign.kind}/{{annotator}}/undo")
    def undo(request: Request, annotator: str, body: UndoBody) -> Response:
        session = page.campaign.session(annotator)
        session.undo(body.item)
        return page_part(request, session)


def _refused(request: Request, guard: Guard) -> Response | None:
    reason = guard.refusal(request.method, request.headers, request.cookies)
    if reason is None or (reason == "token" and request.url.path == "/static/page.css"):
        return None
    language = _language(request)
    if reason != "token":
        return _problem(request, _STATUS[reason], texts(language)[f"refused_{reason}"])
    if request.method != "GET":
        return _problem(request, 401, texts(language)["token_title"])
    offered = request.query_params.get("token", "")
    if not (offered and guard.is_token(offered)):
        return HTMLResponse(token_page(language, wrong=bool(offered)), 401)
    response = HTMLResponse(entered_page(language))
    response.set_cookie(
        guard.cookie,
        guard.cookie_value,
        httponly=True,
        samesite="strict",
        max_age=int(30 * DAY),
    )
    return response


def _problem(request: Request, status: int, reason: str) -> Response:
    """Report a problem: as a page for GET, as JSON to the script of the page."""
    if request.method in {"GET", "HEAD"}:
        page: Page[Any] = request.app.state.page
        return HTMLResponse(page.problem_page(_language(request), reason), status)
    return JSONResponse({"problem": reason}, status)


def _language(request: Request) -> str:
    asked = request.query_params.get("language", "")
    default: str = request.app.state.page.campaign.language
    if asked in LANGUAGES:
        return asked
    return default


def _session_address(campaign: People[Any], annotator: str, language: str) -> str:
    return f"/{campaign.kind}/{quote(annotator, safe='')}?language={language}"


def listen(host: str, port: int) -> socket.socket:
    """Open the port (0 for any free one), so that it is ours before its address is printed."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        [(family, _, _, _, address), *_] = found
        numeric = str(address[0])
        return socket.create_server((numeric, port), family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        hint = "choose another with --address HOST:PORT, or 0 for any free one"
        raise InputError(f"cannot listen at {host} port {port}: {error}; {hint}") from None


def serve(app: FastAPI, listener: socket.socket) -> None:
    """Answer requests until the process is stopped (Ctrl-C)."""
    import uvicorn

    config = uvicorn.Config(
        app,
        access_log=False,  # addresses may hold the token
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listener])

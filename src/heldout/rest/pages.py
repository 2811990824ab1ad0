"""The page of the routes (Swagger UI), from files of this machine alone."""

from __future__ import annotations

from importlib.resources import files

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.staticfiles import StaticFiles
from starlette.responses import HTMLResponse

PARTS = "/docs/parts"
_OWN_ONLY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; font-src 'self' data:; "
    "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'"
)
"""The page's own script is inline; a browser loads nothing from elsewhere."""
_FRAMEWORKS = ("/docs", "/redoc", "/docs/oauth2-redirect")


def add_page(app: FastAPI) -> None:
    """Serve ``/docs``; pages that a framework brought, which load from a CDN, are taken out."""
    app.router.routes[:] = [
        route for route in app.router.routes if getattr(route, "path", None) not in _FRAMEWORKS
    ]
    parts = str(files("fastapi_offline") / "static")
    app.mount(PARTS, StaticFiles(directory=parts), name="parts")

    @app.get("/docs", include_in_schema=False)
    def docs(request: Request) -> HTMLResponse:
        """The routes, to be read and tried."""
        below = str(request.scope.get("root_path", ""))
        page = get_swagger_ui_html(
            openapi_url=f"{below}/openapi.json",
            title=app.title,
            swagger_js_url=f"{below}{PARTS}/swagger-ui-bundle.js",
            swagger_css_url=f"{below}{PARTS}/swagger-ui.css",
            swagger_favicon_url=f"{below}{PARTS}/favicon.png",
            swagger_ui_parameters={"validatorUrl": None},
        )
        page.headers["content-security-policy"] = _OWN_ONLY
        return page
